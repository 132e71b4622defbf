"""The first policy, as data: effect class × origin of the executor → what happens.

Law: a row is an answer, never code; `decide` walks the table and adds nothing to it. Whoever changes a row changes
`policy_digest()`, and with it every approval that was waiting.
"""

from __future__ import annotations

from typing import Literal

from metnos.contracts.model import Origin
from metnos.sdk import EffectClass

Answer = Literal["allow", "ask", "ask-unless-yes", "deny"]

TABLE: dict[EffectClass, dict[Origin, Answer]] = {
    "read":    {"catalog": "allow",          "host": "allow",          "foreign": "allow"},
    "create":  {"catalog": "ask-unless-yes", "host": "ask-unless-yes", "foreign": "ask-unless-yes"},
    "change":  {"catalog": "ask",            "host": "ask",            "foreign": "ask"},
    "delete":  {"catalog": "ask",            "host": "ask",            "foreign": "ask"},
    "send":    {"catalog": "deny",           "host": "deny",           "foreign": "deny"},
    "execute": {"catalog": "deny",           "host": "ask",            "foreign": "deny"},
}

UNTRUSTED: Answer = "ask"
"""An untrusted value in an argument that must be trusted: at least this, whatever the row allows."""

SEVERITY: tuple[Answer, ...] = ("allow", "ask-unless-yes", "ask", "deny")
"""Of two answers the later one holds."""

REASONS: dict[Answer, str] = {
    "allow": "{effect} is allowed",
    "ask-unless-yes": "{effect} needs your consent",
    "ask": "{effect} needs your consent",
    "deny": "{effect} by an executor of class {origin} is not allowed",
}

UNTRUSTED_REASON = "{argument} comes from {source}"
