"""The words of a language, as data: `lexicon/*.toml`, one file a language, `common.toml` for all.

Law: a new language is a new data file; no word of any language stands in code. Every word has exactly one
canonical form in its language (a second, different one is a fault at load), so folding synonyms never chooses.
Homographs ("list", "copia") carry all their roles. Nothing is learned.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from metnos.request.added import with_file
from metnos.request.reading import read_lexicon
from metnos.request.tokens import Token
from metnos.request.words import Lexicon, LexiconFault, Loose, Phrase, Role, Word

__all__ = [
    "Lexicon", "LexiconFault", "Loose", "Phrase", "Role", "Word", "added_digest", "choose", "languages", "lexicon_digest",
    "lexicon_for", "lexicons", "lexicons_with", "read_lexicon",
]  # fmt: skip

_FOLDER = Path(__file__).parent / "lexicon"
_COMMON = "common.toml"


@cache
def _sources() -> dict[str, bytes]:
    """File name → bytes, in name order."""
    return {path.name: path.read_bytes() for path in sorted(_FOLDER.glob("*.toml"))}


@cache
def lexicons() -> tuple[Lexicon, ...]:
    """Every language that is shipped, in declared order."""
    sources = {name: tomllib.loads(data.decode()) for name, data in _sources().items()}
    common = sources.pop(_COMMON)
    return tuple(sorted((read_lexicon(data, common) for data in sources.values()), key=lambda found: found.order))


@cache
def languages() -> tuple[str, ...]:
    """Codes of the shipped languages, in declared order."""
    return tuple(lexicon.language for lexicon in lexicons())


@cache
def lexicon_digest() -> str:
    """`sha256:…` over the data files (names, lengths, bytes; line ends as LF): part of the rules digest."""
    whole = hashlib.sha256()
    for name, data in _sources().items():
        data = data.replace(b"\r\n", b"\n")
        whole.update(f"{name}\n{len(data)}\n".encode() + data)
    return f"sha256:{whole.hexdigest()}"


def lexicons_with(paths: Iterable[Path]) -> tuple[Lexicon, ...]:
    """The shipped lexicons with the files of an operator added, in the order given; see `metnos.request.added`.

    Raises:
        LexiconFault: a file cannot be read, or contradicts what is there; it names the file and the word.
    """
    found = lexicons()
    for path in paths:
        found = with_file(found, path)
    return found


def added_digest(found: Iterable[Lexicon]) -> str:
    """`sha256:…` of what was added to these lexicons, "" if nothing was: compared by the plan caches."""
    added = "".join(f"{lexicon.language} {lexicon.digest}\n" for lexicon in found if lexicon.digest)
    return f"sha256:{hashlib.sha256(added.encode()).hexdigest()}" if added else ""


def lexicon_for(language: str) -> Lexicon:
    """The lexicon of `language`.

    Raises:
        ValueError: no such lexicon is shipped.
    """
    for lexicon in lexicons():
        if lexicon.language == language:
            return lexicon
    raise ValueError(f"no lexicon for language {language!r}; there is: {', '.join(languages())}")


def choose(tokens: list[Token]) -> Lexicon:
    """The language whose lexicon explains more of `tokens`; a tie goes to the declared order."""
    keys = [token.key for token in tokens if token.kind == "word"]
    best, most = lexicons()[0], -1
    for lexicon in lexicons():
        known = lexicon.known
        count = sum([key in known for key in keys])
        if count > most:
            best, most = lexicon, count
    return best
