"""What people read, by key and language. Codes are promised, wording is not.

Law: no sentence for a person stands in code elsewhere; a key that one language lacks is found by a test, and at run
time falls back to English as a whole sentence, never to a mixture.
"""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path

LANGUAGES: tuple[str, ...] = ("en", "it")
DEFAULT_LANGUAGE = "en"
FOLDER = Path(__file__).parent
"""`importlib.resources` would do too, and costs ten milliseconds of imports."""


@lru_cache(maxsize=len(LANGUAGES))
def messages(language: str) -> dict[str, str]:
    """All messages of one language, key → template."""
    return tomllib.loads((FOLDER / f"{language}.toml").read_text(encoding="utf-8"))


def message(key: str, language: str | None = None, /, **values: object) -> str:
    """The sentence for `key`; `{name}` is filled from `values`.

    Raises:
        KeyError: no language has that key (a bug, found by the test of keys).
    """
    chosen = language if language in LANGUAGES else DEFAULT_LANGUAGE
    template = messages(chosen).get(key) or messages(DEFAULT_LANGUAGE)[key]
    return template.format(**values) if values else template


def has_message(key: str) -> bool:
    """Whether there is a sentence for `key`; for keys that are made from codes."""
    return key in messages(DEFAULT_LANGUAGE)
