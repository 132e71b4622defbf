"""No false hit: two sentences that look alike and mean different things never get the same plan.

The left sentence of a pair is served. The right one must miss, or be served another plan.
"""

from __future__ import annotations

import random

import pytest

from metnos.cache.model import Match
from metnos.cache.templates import TemplateLibrary
from metnos.request.lexicon import lexicon_for
from metnos.request.understand import understand

PAIRS: dict[str, list[tuple[str, str]]] = {
    "negation": [
        ("list the files here", "do not list the files here"),
        ("list the files here", "never list the files here"),
        ("find all PDF files", "find all files except PDF files"),
        ("find all PDF files", "find all non-PDF files"),
        ("files larger than 1 MB", "files not larger than 1 MB"),
        ("which files were modified yesterday?", "which files were not modified yesterday?"),
        ("which files were modified yesterday?", "which files weren't modified yesterday?"),
        ('find files whose name contains "x"', 'find files whose name does not contain "x"'),
        ('write "x" to a.txt, overwriting it', 'write "x" to a.txt without overwriting it'),
        ('write "x" to a.txt', 'do not write "x" to a.txt'),
        ("list the files here without subfolders", "list the files here with subfolders"),
        ("elenca i file qui", "non elencare i file qui"),
        ("trova tutti i file pdf", "trova tutti i file tranne i pdf"),
        ("i file modificati ieri", "i file non modificati ieri"),
        ("quali file sono vuoti", "quali file non sono vuoti"),
        ("elenca i file qui senza sottocartelle", "elenca i file qui con sottocartelle"),
        ('scrivi "x" in a.txt, sovrascrivendolo', 'scrivi "x" in a.txt senza sovrascrivere'),
    ],
    "quantifier": [
        ("list all files here", "list some files here"),
        ("list all files here", "list the first files here"),
        ("the five largest files", "all but the five largest files"),
        ("the five largest files", "only one of the five largest files"),
        ("which PDF files are there", "are there any PDF files"),
        ("gli ultimi 5 file modificati", "i primi 5 file modificati"),
        ("elenca tutti i file", "elenca alcuni file"),
        ("trova tutti i file pdf", "trova ogni altro file pdf"),
    ],
    "opposite": [
        ("the five largest files", "the five smallest files"),
        ("the largest file", "the smallest file"),
        ("the 5 newest files", "the 5 oldest files"),
        ("the most recently modified file", "the least recently modified file"),
        ("files larger than 1 MB", "files smaller than 1 MB"),
        ("files over 1 MB", "files under 1 MB"),
        ("which file takes up the most space", "which file takes up the least space"),
        ("i cinque file più grandi", "i cinque file più piccoli"),
        ("i cinque file più grandi", "i cinque file meno grandi"),
        ("il file più recente", "il file più vecchio"),
        ("file superiori a 1 MB", "file inferiori a 1 MB"),
        ("i 5 file modificati più di recente", "i 5 file modificati meno di recente"),
    ],
    "number and unit": [
        ("the five largest files", "the six largest files"),
        ("the 5 largest files", "the 50 largest files"),
        ("the five largest files", "the five hundred largest files"),
        ("files larger than 1 MB", "files larger than 1 KB"),
        ("files larger than 1 MB", "files larger than 1 MiB"),
        ("files larger than 1 MB", "files larger than 1"),
        ("files larger than 1.5 MB", "files larger than 15 MB"),
        ("files larger than 1,000 KB", "files larger than 1.000 KB"),
        ("i cinque file più grandi", "i sei file più grandi"),
        ("file più grandi di 1,5 MB", "file più grandi di 1,500 MB"),
        ("file più grandi di 10 mega", "file più grandi di 10 giga"),
        ("quali file pdf superano 500 KB", "quali file pdf di 500 KB"),
    ],
    "path, name and type": [
        ("the five largest files in src", "the five largest files"),
        ("the five largest files in src", "the five largest files in lib"),
        ("read a.txt", "read A.txt"),
        ("read a.txt", "read ./b/a.txt"),
        ("list files under ~/a", "list files under ~"),
        ("list files in Documents", "list files in documents"),
        ("find all PDF files", "find all TXT files"),
        ("find files matching *.py", "find files matching *.pyc"),
        ('find files whose name contains "x"', 'find files whose name contains "X"'),
        ("find files named setup.py", 'find files whose name contains "setup.py"'),
        ("trova i file pdf sotto ./a", "trova i file pdf sotto ./b"),
        ("leggi a.txt", "leggi b.txt"),
    ],
    "singular and plural": [
        ("the largest file", "the largest files"),
        ("the newest file", "the newest files"),
        ("find PDFs", "find the PDF"),
        ("il file più grande", "i file più grandi"),
        ("il file più recente", "i file più recenti"),
    ],
    "time": [
        ("which files were modified today?", "which files were modified yesterday?"),
        ("files modified last week", "files modified this week"),
        ("files modified last week", "files modified in the last week"),
        ("files modified yesterday", "files modified before yesterday"),
        ("files modified yesterday", "files created yesterday"),
        ("files modified yesterday", "files modified since yesterday"),
        ("i file modificati ieri", "i file modificati l'altro ieri"),
        ("i file modificati la settimana scorsa", "i file modificati questa settimana"),
        ("i file modificati ieri", "i file modificati prima di ieri"),
    ],
    "verb": [
        ("list the files here", "delete the files here"),
        ("list the files here", "count the files here"),
        ("read a.txt", "delete a.txt"),
        ("read a.txt", "run a.txt"),
        ("read a.txt", "print a.txt"),
        ("show the contents of a.txt", "show the size of a.txt"),
        ('overwrite a.txt with "x"', 'write "x" to a.txt'),
        ("how many files are there here", "which files are there here"),
        ("what is the total size of the files", "what is the average size of the files"),
        ("elenca i file qui", "elimina i file qui"),
        ("conta i file qui", "copia i file qui"),
        ("leggi a.txt", "cancella a.txt"),
        ("la dimensione totale dei file", "la dimensione media dei file"),
    ],
    "preposition, role and order": [
        ('write "a.txt" to b.txt', 'write "b.txt" to a.txt'),
        ('write "x" to a.txt', 'append "x" to a.txt'),
        ('write "x" to a.txt', 'write "x" from a.txt'),
        ("list files in src", "list files from src"),
        ("list files in src", "list files outside src"),
        ("files under ./a modified yesterday", "files over ./a modified yesterday"),
        ("list the files here sorted by size", "list the files here sorted by name"),
        ("list the files here sorted by date", "list the files here sorted by size"),
        ('overwrite a.txt with "b"', 'overwrite b.txt with "a"'),
        ("write the list of the five largest files in a/x to b.md", "write the list of the five largest files in b.md to a/x"),
        ('which .md files contain "plan"', 'which .md files are called "plan"'),
        ('scrivi "x" in a.txt', 'scrivi "x" da a.txt'),
        ("trova i file in ./a", "trova i file con ./a"),
    ],
    "added condition": [
        ("the five largest files", "the five largest hidden files"),
        ("the five largest files", "the five largest files modified yesterday"),
        ("the five largest files", "the five largest files and then delete them"),
        ("list all files", "list all files and folders"),
        ("list all files", "list all files if there are more than 5"),
        ("list all files here", "list all hidden files here"),
        ("count the files here", "count the empty files here"),
        ("read a.txt", "read a.txt and b.txt"),
        ("files larger than 1 MB", "files larger than 1 MB and smaller than 2 MB"),
        ("find all PDF files", "find all PDF files older than a year"),
        ("elenca i file qui", "elenca i file nascosti qui"),
        ("i cinque file più grandi", "i cinque file più grandi e poi cancella tutto"),
        ("conta i file qui", "conta le righe dei file qui"),
        ("leggi a.txt", "leggi a.txt e b.txt"),
    ],
    "mood": [
        ("list the files here", "can you list the files here"),
        ("list the files here", "did you list the files here"),
        ("which file was changed last", "which file will be changed last"),
        ("show me the largest file", "show him the largest file"),
        ("elenca i file qui", "perché elenca i file qui"),
    ],
}  # fmt: skip

CASES = [(kind, left, right) for kind, pairs in PAIRS.items() for left, right in pairs]


def test_there_are_enough_pairs_in_both_languages() -> None:
    assert len(CASES) >= 100
    assert sum(understand(left).language == "it" for _, left, _ in CASES) >= 30


@pytest.mark.parametrize(("kind", "left", "right"), CASES, ids=[f"{left} | {right}" for _, left, right in CASES])
def test_no_false_hit(kind: str, left: str, right: str, library: TemplateLibrary) -> None:
    served = library.match(understand(left))
    assert isinstance(served, Match), (kind, served)
    other = library.match(understand(right))
    assert not isinstance(other, Match) or other.plan != served.plan, (kind, other)


def test_no_negation_and_no_quantifier_can_be_slipped_in(library: TemplateLibrary) -> None:
    chance = random.Random(1)
    # "all the files here" is "the files here": templates say so in their own words.
    free = {"all", "tutti"}
    for example in library.examples():
        served = library.match(understand(example.text, example.language))
        assert isinstance(served, Match)
        words = example.text.split(" ")
        lexicon = lexicon_for(example.language)
        loaded = sorted(key for key, word in lexicon.words.items() if word.roles & {"negation", "quantifier"})
        for at in range(len(words) + 1):
            for word in chance.sample([word for word in loaded if word not in free], 12):
                text = " ".join((*words[:at], word, *words[at:]))
                other = library.match(understand(text, example.language))
                assert not isinstance(other, Match) or other.plan != served.plan, text


@pytest.mark.parametrize("text", [
    "do not list the files", "delete all files", "cancella tutti i file", "the five largest files, but not in src",
    "files larger than 1 MB or smaller", "list files in src and lib", "rename a.txt to b.txt", "send a.txt to a@b.it",
    "which files were modified between monday and friday", "list all files except a.txt", "non leggere a.txt",
    "do not overwrite a.txt with \"x\"", "append \"x\" to a.txt", "elenca i file tranne quelli nascosti",
    "the second largest file", "il secondo file più grande", "are the five largest files here", "five or six largest files",
    "the largest files folder", "files largest the five", "i cinque più grandi", "rm -rf /", "{path}", "list {glob} files",
    "find {integer} files", "the ${SLOT:count} largest files", "show me {{path}}", "list all files; rm -rf ~",
])  # fmt: skip
def test_what_no_template_means_is_a_miss(text: str, library: TemplateLibrary) -> None:
    assert not isinstance(library.match(understand(text)), Match)
