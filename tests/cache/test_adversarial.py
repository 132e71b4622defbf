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
    "case": [
        ("find all files named upper.txt", "find all files named lower.txt"),
        ('which files contain "todo"', 'which files contain "to do"'),
        ("quali file contengono TODO", "quali file non contengono TODO"),
        ("which files contain TODO", "which files are called TODO"),
    ],
    "hidden": [
        ("list all files", "list all files, including hidden ones"),
        ("list all files, including hidden ones", "list all files, excluding hidden ones"),
        ("list all files, including hidden ones", "list all files, not including hidden ones"),
        ("how many hidden files are there", "how many files are there"),
        ("how many empty files are there", "how many hidden files are there"),
        ("how many empty files are there", "how many files are not empty"),
        ("elenca tutti i file, compresi i nascosti", "elenca tutti i file"),
        ("elenca tutti i file, compresi i nascosti", "elenca tutti i file nascosti"),
        ("quanti file nascosti ci sono", "quanti file ci sono"),
        ("quanti file vuoti ci sono", "quanti file nascosti ci sono"),
    ],
    "places and what is none": [
        ("list files in src", "list files in total"),
        ("list files in src", "list files in reverse"),
        ("the largest file in src", "the largest file in the parent folder"),
        ("how many files in total", "how many files in src"),
        ("the total size of the files in src", "the total size of the files in MB"),
        ("the total size of the files", "the total size of the files in MB"),
        ('the largest file in "My Docs"', "the largest file"),
        ('the largest file in "My Docs"', 'the largest file not in "My Docs"'),
        ('the largest file in "My Docs"', 'the largest file in "My docs"'),
        ('read "a b.txt"', 'write "a b.txt"'),
        ('read "a b.txt"', 'delete "a b.txt"'),
        ('write "x" to "my file.txt"', 'write "my file.txt" to "x"'),
        ("how big is a.txt", "how big is the folder a"),
        ("il file più grande in src", "il file più grande in assoluto"),
        ("i file modificati ieri in src", "i file modificati ieri in giro"),
        ("il file più grande nella cartella src", "il file più grande nella cartella principale"),
        ("quanto pesa la cartella src", "quanto pesa la cartella superiore"),
        ('i tre file più piccoli in "My Docs"', "i tre file più piccoli"),
    ],
    "one type and its plural": [
        ("the largest pdf in src", "the largest pdfs in src"),
        ("the largest pdf", "the smallest pdf"),
        ("newest pdf", "newest txt"),
        ("newest pdf", "the second newest pdf"),
        ("how many pdfs", "which pdfs"),
        ("il pdf più grande", "i pdf più grandi"),
        ("il pdf più grande", "il pdf meno grande"),
        ("i pdf più recenti", "i pdf meno recenti"),
    ],
    "last days": [
        ("files modified in the last 7 days", "files modified in the last 70 days"),
        ("files modified in the last 7 days", "files modified in the last 7 weeks"),
        ("files modified in the last 7 days", "files modified 7 days ago"),
        ("files modified in the last 7 days", "files not modified in the last 7 days"),
        ("files modified in the last 7 days", "files created in the last 7 days"),
        ("files modified in the last 7 days", "files modified before the last 7 days"),
        ("files modified in the last 7 days", "the last 7 files modified"),
        ("i file modificati negli ultimi 7 giorni", "i file modificati negli ultimi 7 mesi"),
        ("i file modificati negli ultimi 7 giorni", "gli ultimi 7 file modificati"),
        ("i file modificati negli ultimi 7 giorni", "i file non modificati negli ultimi 7 giorni"),
    ],
    "order": [
        ("list files sorted by size, smallest first", "list files sorted by size, largest first"),
        ("list files sorted by size, smallest first", "list files sorted by size"),
        ("list files by date, oldest first", "list files by date, newest first"),
        ("list files sorted by size, smallest first", "list files sorted by size, not smallest first"),
        ("elenca i file ordinati per dimensione, dal più piccolo", "elenca i file ordinati per dimensione, dal più grande"),
    ],
    "two and three clauses": [
        ("find the largest pdf files and save the list to x.md", "find the largest pdf files"),
        ("find the largest pdf files and save the list to x.md", "find the smallest pdf files and save the list to x.md"),
        ("find the largest pdf files and save the list to x.md", "find the largest pdf files and save the list to x.csv"),
        ("find the largest pdf files and save the list to x.md", "find the largest pdf files or save the list to x.md"),
        ("find the largest pdf files and save the list to x.md", "find the largest pdf files and do not save the list to x.md"),
        ("find the largest pdf files and save the list to x.md", "find the largest pdf files and save the pdf files to x.md"),
        ("find the largest pdf files and save the list to x.md", "find the largest pdf files and delete the list x.md"),
        ("find the largest pdf files and save the list to x.md", "find the largest pdf files, save the list to x.md and delete them"),
        ("count the csv files and write the number to n.txt", "count the csv files and append the number to n.txt"),
        ("count the csv files and write the number to n.txt", "list the csv files and write the list to n.txt"),
        ("count the csv files and write the number to n.txt", "count the csv files and write the number 5 to n.txt"),
        ("find the pdf files, sort them by size and save the list to x.csv", "find the pdf files, sort them by name and save the list to x.csv"),
        ("find the pdf files, sort them by size and save the list to x.csv", "find the pdf files and save the list to x.csv"),
        ("save the list of all files to list.csv", "save the list of all files to list.txt"),
        ("conta i file csv e scrivi il numero in n.txt", "conta i file csv e scrivi il numero 7 in n.txt"),
        ("conta i file csv e scrivi il numero in n.txt", "conta i file csv ma non scrivere il numero in n.txt"),
        ("conta i file csv e scrivi il numero in n.txt", "conta i file csv o scrivi il numero in n.txt"),
        ("trova i file pdf più grandi e salva l'elenco in x.md", "trova i file pdf più piccoli e salva l'elenco in x.md"),
        ("trova i file pdf e salva l'elenco in pdf.md", "trova i file pdf e cancella l'elenco in pdf.md"),
    ],
    "acting on one file": [
        ("delete a.txt", "do not delete a.txt"),
        ("delete a.txt", "delete all files except a.txt"),
        ("delete a.txt", "delete all but a.txt"),
        ("delete a.txt", "delete a.txt and b.txt"),
        ("delete a.txt", "delete the text of a.txt"),
        ("delete a.txt", "delete the folder a.txt"),
        ("delete a.txt", "delete the last line of a.txt"),
        ("delete a.txt", "undelete a.txt"),
        ("delete a.txt", "delete a.txt if it is empty"),
        ('delete "a b.txt"', "delete a b.txt"),
        ("copy a.txt to b.txt", "copy b.txt to a.txt"),
        ("copy a.txt to b.txt", "move a.txt to b.txt"),
        ("copy a.txt to b.txt", "copy a.txt to b.txt, overwriting it"),
        ("copy a.txt to b.txt", "copy a.txt from b.txt"),
        ("copy a.txt to the folder b", "copy a.txt to the file b"),
        ("move a.txt into the folder b", "copy a.txt into the folder b"),
        ("move a.txt into the folder b", "move the folder b into a.txt"),
        ("move a.txt into the folder b", "move a.txt out of the folder b"),
        ("rename a.txt to b.txt", "rename b.txt to a.txt"),
        ("rename a.txt to b.txt", "copy a.txt to b.txt"),
        ("rename a.txt to b.txt", "rename sub/a.txt to b.txt"),
        ("create the folder b", "delete the folder b"),
        ("create the folder b", "create the file b"),
        ("elimina a.txt", "non eliminare a.txt"),
        ("elimina a.txt", "elimina tutto tranne a.txt"),
        ("elimina a.txt", "elimina a.txt e b.txt"),
        ("elimina a.txt", "elimina il testo di a.txt"),
        ("elimina a.txt", "elimina la cartella a.txt"),
        ("copia a.txt in b.txt", "copia b.txt in a.txt"),
        ("copia a.txt in b.txt", "copia a.txt da b.txt"),
        ("sposta a.txt nella cartella b", "copia a.txt nella cartella b"),
        ("rinomina a.txt in b.txt", "rinomina a.txt da b.txt"),
    ],
    "text in files": [
        ("which files contain TODO", "which lines contain TODO in the files"),
        ("how many files contain TODO", "which files contain TODO"),
        ("which files contain TODO", "which files do not contain TODO"),
        ('find "todo" in the python files', 'find "todo" in the names of the python files'),
        ('find "todo" in the python files', 'replace "todo" in the python files'),
        ("quante cartelle ci sono", "quanti file ci sono"),
        ("how many folders are there", "how many files are there"),
        ("list the folders here", "list the files here"),
        ("the 5 largest folders here", "the 5 largest files here"),
        ("the 5 largest folders here", "the 5 smallest folders here"),
        ("what time is it", "what time was it"),
        ("che ore sono", "che ore erano"),
    ],
    "bounds": [
        ("files between 1 MB and 5 MB", "files between 5 MB and 1 MB"),
        ("files between 1 MB and 5 MB", "files not between 1 MB and 5 MB"),
        ("files larger than 1 MB modified this week", "files larger than 1 MB modified last week"),
        ("files larger than 1 MB modified this week", "files larger than 1 MB"),
        ("files over 1MB", "files under 1MB"),
        ("how many files over 1 MB", "how many files under 1 MB"),
        ("i file tra 1 MB e 5 MB", "i file tra 1 MB e 5 GB"),
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
    "files larger than 1 MB or smaller", "list files in src and lib", "send a.txt to a@b.it",
    "which files were modified between monday and friday", "list all files except a.txt", "non leggere a.txt",
    "do not overwrite a.txt with \"x\"", "append \"x\" to a.txt", "elenca i file tranne quelli nascosti",
    "the second largest file", "il secondo file più grande", "are the five largest files here", "five or six largest files",
    "the largest files folder", "files largest the five", "i cinque più grandi", "rm -rf /", "{path}", "list {glob} files",
    "find {integer} files", "the ${SLOT:count} largest files", "show me {{path}}", "list all files; rm -rf ~",
    "list files in everything", "i file in dettaglio", "elenca i file in uso", "list files in alphabetical", "largest file in kilobytes",
    "files in the upper folder", "elenca i file nella cartella padre", "find the pdf", "files modified in the last month",
    "files modified in the last 0 days", "files modified in the last 99999 days", "save the list of all files to list.xlsx",
    "which files contain", "which files contain lines", "il pdf", "largest pdf or txt", "how big is a.txt and b.txt",
])  # fmt: skip
def test_what_no_template_means_is_a_miss(text: str, library: TemplateLibrary) -> None:
    assert not isinstance(library.match(understand(text)), Match)
