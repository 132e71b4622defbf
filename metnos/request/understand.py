"""From text to a `Request`."""

from __future__ import annotations

from metnos.request.model import Request


def understand(text: str, language: str | None = None) -> Request:
    """Explain `text` token by token; `language` None: the one whose lexicon explains more."""
    return Request(text=text, language=language or "en", normal_form=text)
