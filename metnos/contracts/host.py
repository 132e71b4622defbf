"""A registered function with its contract, as the catalog holds it.

Law: data; `functions.executor` makes it. Apart from that module, since a catalog without functions needs no inspection.
"""

from __future__ import annotations

from typing import Any

import msgspec

from metnos.contracts.model import Contract


class HostExecutor(msgspec.Struct, frozen=True, kw_only=True):
    """A registered function with its contract. Calling it calls the function as it was written."""

    contract: Contract
    function: Any
    is_async: bool
    """`call` gives an awaitable."""
    call: Any
    """`call(args, ctx)`: arguments as JSON data in, `data` as JSON data (or a `Result`) out."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function itself, with nothing converted."""
        return self.function(*args, **kwargs)
