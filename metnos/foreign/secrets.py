"""`${NAME}` in a header or variable: where a secret is named in an import, and put in only when it is sent.

Law: pure; the variables are handed in. Nothing else of Metnos's environment reaches a server.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metnos.foreign.faults import CallFault

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMED = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def filled_in(values: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """`values` with each `${NAME}` replaced by the variable of that name.

    Raises:
        CallFault: `variable-missing`.
    """
    return {name: _NAMED.sub(lambda found: _value(found[1], variables), text) for name, text in values.items()}


def named_in(values: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that `values` name, each once."""
    return tuple(dict.fromkeys(found for text in values.values() for found in _NAMED.findall(text)))


def _value(name: str, variables: Mapping[str, str]) -> str:
    value = variables.get(name)
    if value is None:
        hint = f"set {name} in the environment that Metnos runs in"
        raise CallFault("unavailable", "variable-missing", f"the variable {name} is not set", where=name, hint=hint)
    return value
