"""What generalising makes: a `General` with its `SlotUse`s, or the reason why there is none. Pure data.

Law: a `General` says of each slot of the form what became of it: located (`uses`), or not (`fixed`), and of a fixed
one the value that a request must have to be served. Nothing here is signed or stored; who does that may encode these
structs as they are.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import msgspec

Reading = tuple[str, ...]
"""Constant text and conversions in turn: `("", "text", " (", "number", " bytes)")`. Of odd length."""
Mode = Literal["typed", "text", "json", "plain", "reference"]
"""How a rendered use is spelled: as JSON data; in a string with references; in a JSON string of a fallback; in a
string without references; as a whole reference."""

NotGeneralReason = Literal[
    "unknown-tool",  # a step's tool is not in the catalog
    "bad-plan",  # a reference is misspelled, or the plan is none
    "open-slot",  # `${SLOT:` stands in the plan already
    "asks",  # the plan ends in a question
    "answered",  # it refers to an answer of a dialog or to an earlier plan
    "sealed",  # a handle of a secret
    "sensitive",  # a literal in an argument that is declared sensitive
    "moment",  # a date or time that the request did not say: it was true when the plan was made
    "unfaithful",  # bound with its own slots it is another plan: a fault of this room
]
NOT_GENERAL_REASONS: tuple[NotGeneralReason, ...] = get_args(NotGeneralReason)
DisagreeReason = Literal[
    "form",  # the loose forms differ
    "kinds",  # the kinds of the slots differ
    "same-values",  # nothing differs, so nothing was seen to vary
    "plan",  # the plans differ in more than values
    "fixed",  # a slot that was not located has another value
    "shape",  # the plans differ, and a value has a shape that the first never saw: both may be right
    "not-general",  # one of the plans may be kept nowhere
]


class NotGeneral(msgspec.Struct, frozen=True):
    """No cache may hold this plan; `detail` is a JSON pointer or a name."""

    reason: NotGeneralReason
    detail: str = ""


class Disagree(msgspec.Struct, frozen=True):
    """Two plans are not one plan with other values."""

    reason: DisagreeReason
    detail: str = ""


class SlotUse(msgspec.Struct, frozen=True, kw_only=True):
    """One slot in the plan, in one way: `${SLOT:sN}` of the N-th use stands in all its `places`."""

    index: int
    """Which slot of the request, in order of the text, from 0."""
    kind: str
    readings: tuple[Reading, ...]
    """All that made the literal of the plan. A value on which they differ is refused."""
    mode: Mode
    places: tuple[str, ...]
    """JSON pointers of the strings or values that hold it."""
    least: float | None = None
    """Bounds that the contract sets, of a number or of a text's length."""
    most: float | None = None

    @property
    def conversion(self) -> str:
        """The conversions of the first reading."""
        return "+".join(self.readings[0][1::2])


class General(msgspec.Struct, frozen=True, kw_only=True):
    """A plan with open slots, and what may fill them."""

    plan: dict[str, Any]
    language: str
    kinds: tuple[str, ...]
    """Kinds of all slots of the form, in order."""
    uses: tuple[SlotUse, ...] = ()
    fixed: dict[int, Any] = {}
    """Index → value of each slot that was not located: it stays in the key."""
    fixed_texts: dict[int, str] = {}
    """Index → the words of a fixed slot, where the plan holds free text that may repeat them."""
    shapes: dict[int, tuple[str, ...]] = {}
    """Index of each located slot → the shapes of values that were seen (`metnos.cache.generalise.shape`)."""
    apart: tuple[str, ...] = ()
    """Words that tell the executors of these families apart: a value that holds one has a shape of its own."""
    free_literals: tuple[str, ...] = ()
    """Pointers of literals that are neither a slot, nor a contract's default, nor structure."""
    read_only: bool = False
