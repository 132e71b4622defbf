"""What may stand in a field of `models.toml`, and how that is said.

Law: one row a field. Text that came from the file is quoted only where its field is one of those that hold no secret,
not even one that somebody wrote into the wrong line.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

MODEL_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.ASCII)
VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
SHA256: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
_MOST_S: Final = 48 * 3600.0
Holds = Callable[[Any], bool]


class Price(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Per million tokens."""

    input: float = 0.0
    cached: float | None = None
    """Of tokens of the prompt whose state was kept; None: as `input`."""
    output: float = 0.0
    currency: str = "USD"

    def of(self, tokens_in: int, tokens_cached: int, tokens_out: int) -> float:
        """What these tokens cost; `tokens_in` holds the cached ones."""
        cached = self.input if self.cached is None else self.cached
        return ((tokens_in - tokens_cached) * self.input + tokens_cached * cached + tokens_out * self.output) / 1e6


class Field(NamedTuple):
    """Whether a value fits, and what would."""

    holds: Holds
    expected: str


def _text(most: int) -> Holds:
    return lambda value: isinstance(value, str) and 0 < len(value) <= most and value.isprintable()


def _matches(form: re.Pattern[str]) -> Holds:
    return lambda value: isinstance(value, str) and form.fullmatch(value) is not None


def _integer(least: int, most: int) -> Holds:
    return lambda value: type(value) is int and least <= value <= most


def _seconds(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value <= _MOST_S


def _is_url(value: Any) -> bool:
    try:
        parts = urlsplit(value) if isinstance(value, str) and value.isprintable() else None
        return (
            parts is not None
            and parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and parts.port != 0
            and not (parts.username or parts.password or parts.query or parts.fragment)
        )
    except ValueError:
        return False


def is_bare(url: Any) -> bool:
    """Whether it is the address of another machine without TLS."""
    if not isinstance(url, str) or not _is_url(url):
        return False
    parts = urlsplit(url)
    return parts.scheme == "http" and not _is_loopback(parts.hostname or "")


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_price(value: Any) -> bool:
    try:
        price = msgspec.convert(value, Price)
    except msgspec.ValidationError:
        return False
    rates = (price.input, price.output, price.cached or 0.0)
    return all(0 <= rate < 1e6 for rate in rates) and re.fullmatch(r"[A-Z]{3}", price.currency) is not None


FIELDS: Final[dict[str, Field]] = {
    "file": Field(_text(4096), "a path, below the home or absolute"),
    "sha256": Field(_matches(SHA256), "64 hexadecimal digits, small letters"),
    "url": Field(_is_url, "http(s)://HOST[:PORT]/PATH, with no user, query or fragment"),
    "model": Field(_text(256), "the name that the server knows"),
    "key_env": Field(_matches(VARIABLE), "the name of an environment variable"),
    "key_over_http": Field(_is_bool, "true or false"),
    "of": Field(_matches(MODEL_NAME), "the name of a model"),
    "context": Field(_integer(256, 1 << 24), "an integer from 256 to 16777216"),
    "threads": Field(_integer(1, 1024), "an integer from 1 to 1024"),
    "idle_s": Field(_seconds, "seconds, more than 0, at most two days"),
    "deadline_s": Field(_seconds, "seconds, more than 0, at most two days"),
    "price": Field(_is_price, "{ input, output, cached (per million tokens, from 0), currency (three letters) }"),
    "options": Field(_is_table, "a table"),
}
_SHOWN: Final = frozenset({"sha256", "context", "threads", "idle_s", "deadline_s", "key_over_http", "of"})
"""Fields whose value may be quoted; any other may hold a key that somebody put in the wrong place."""


def shown(key: str, value: Any) -> str:
    """The value, or only its kind."""
    return repr(value)[:80] if key in _SHOWN else kind_of(value)


def kind_of(value: Any) -> str:
    """What TOML calls it."""
    return next((name for kind, name in _KINDS if isinstance(value, kind)), "a date or time") + " that does not fit"


_KINDS: Final[tuple[tuple[type, str], ...]] = (
    (str, "a text"),
    (bool, "true or false"),
    (int, "a number"),
    (float, "a number"),
    (list, "a list"),
    (dict, "a table"),
)
