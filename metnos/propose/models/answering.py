"""What a server's refusal means, as a `ModelFault` that quotes no key.

Law: a table from status to code; the server's own words are shortened, put on one line and cleared of the key, and are
not quoted at all where they are about the key.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, cast

from metnos.propose.models.ports import ModelFault

if TYPE_CHECKING:
    from collections.abc import Mapping

BY_STATUS: Final[dict[int, tuple[str, str]]] = {
    401: ("model-refused", "look at the key that its key_env names"),
    402: ("model-refused", "look at the account of the key"),
    403: ("model-refused", "look at what its key may do"),
    404: ("model-refused", "look at its url (with /v1) and at the name of its model"),
    408: ("model-unreachable", "try again"),
    413: ("model-context", "shorten the request"),
    429: ("model-limited", "wait, or name a second model for the role"),
}
_ABOUT_LENGTH: Final = re.compile(
    r"context[ _](?:length|size|window)|maximum context|too (?:long|many tokens)|n_ctx", re.IGNORECASE
)
_ABOUT_MONEY: Final = re.compile(r"insufficient_quota|billing", re.IGNORECASE)
_MOST: Final = 300
_SHORTEST: Final = 6
"""A shorter piece of a key tells nothing, and would blot out words."""


def fault_of(status: int, body: Any, headers: Mapping[str, str], key: str) -> tuple[ModelFault, str, str]:
    """The fault, the server's words, and the field that they are about, if any."""
    said, field = _words(body, key)
    code, hint = BY_STATUS.get(status, ("", ""))
    if not code:
        code, hint = _otherwise(status, said)
    if status == 429 and _ABOUT_MONEY.search(said):
        code, hint = "model-refused", "look at the account of the key"
    message = f"the server answered {status}"
    if status not in (401, 403) and said:
        message += f": {said}"
    wait = headers.get("retry-after", "")
    if wait.isascii() and wait.isdigit():
        message += f" (wait {int(wait[:9])} s)"
    return ModelFault(code, message, hint), said, field


def _otherwise(status: int, said: str) -> tuple[str, str]:
    if status >= 500:
        return "model-unreachable", "look at the log of the server"
    if 300 <= status < 400:
        return "model-refused", "it redirects: write where to into its url"
    if _ABOUT_LENGTH.search(said):
        return "model-context", "shorten the request, or raise the context of the server"
    return "model-refused", "look at its options in models.toml"


def _words(body: Any, key: str) -> tuple[str, str]:
    error: Any = cast("dict[str, Any]", body) if isinstance(body, dict) else {"message": body}
    if isinstance(error.get("error"), dict):
        error = error["error"]
    parts = [error.get(name) for name in ("message", "code") if isinstance(error.get(name), str)]
    field = error.get("param")
    return cleared(" ".join(dict.fromkeys(parts)), key), field if isinstance(field, str) else ""


def cleared(text: str, key: str) -> str:
    """On one line, printable, shortened, and without the key or a beginning or end of it."""
    if key:
        text = text.replace(key, "…")
        for length in range(len(key) - 1, _SHORTEST - 1, -1):
            text = text.replace(key[:length], "…").replace(key[-length:], "…")
    line = " ".join("".join(one if one.isprintable() else " " for one in text[: 4 * _MOST]).split())
    return line if len(line) <= _MOST else f"{line[:_MOST]}…"


def missing_key(variable: str, *, there: bool) -> ModelFault:
    """The key is not to be had, or is none."""
    what = "does not hold a key" if there else "is not set"
    return ModelFault("model-refused", f"the variable {variable} {what}", f"export {variable}=…")


def unreadable(why: str) -> ModelFault:
    """What came is not of the protocol."""
    return ModelFault(
        "model-reply", f"what the server sent cannot be read ({why})", "is this url one of this protocol?"
    )
