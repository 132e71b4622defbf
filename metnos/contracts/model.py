"""A contract: what an executor promises, frozen. Read from a manifest, a function, or a foreign description.

Law: effects come from here, never from a name. A contract holds no code and no trust decision.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from metnos.sdk import EffectClass

Origin = Literal["catalog", "host", "foreign"]
Placement = Literal["inline", "worker", "host", "external"]
"""`inline`: pure, in this process; `worker`: warm process; `host`: a registered function; `external`: a
stand-in or a client of another protocol."""
ChoiceKey = Literal["replace", "beside", "encoding", "column"]
Rule = Literal["same", "pick", "group", "join", "concat", "fixed"]
ResourceKind = Literal["root", "host", "account"]


class Intent(msgspec.Struct, frozen=True):
    """A family: (verb, object) of the vocabulary; a foreign tool has one free name as `verb` and object ``""``."""

    verb: str
    object: str = ""


class EffectRule(msgspec.Struct, frozen=True, kw_only=True):
    """First match wins; the last rule has no `when`. `when` maps argument → value it must equal."""

    effect: EffectClass
    when: dict[str, Any] | None = None


class Consumes(msgspec.Struct, frozen=True, kw_only=True):
    """`from_step` fills `into`; `many`: it takes a list, else a single entry (the step is lifted)."""

    into: str
    kinds: tuple[str, ...]
    many: bool = True


class Produces(msgspec.Struct, frozen=True, kw_only=True):
    """Kind of what is made, and which field of `data` holds it (the collection, or the single value).

    `field` `""`: all of `data` is it, so `from_step: N` means `${stepN}`.
    """

    kind: str
    field: str = "entries"
    many: bool = True
    rule: Rule = "fixed"
    roles: dict[str, str] = {}
    """For `pick`, `group`, `join`: which argument plays which part (`ROLES`); none: entries are as declared."""
    outer: dict[str, Any] = {}
    """For `join`: an argument and the value under which an entry may go without a second's fields."""


ROLES: dict[str, frozenset[str]] = {
    "pick": frozenset({"fields", "rename"}),
    "group": frozenset({"fields", "measure", "members"}),
    "join": frozenset({"fields", "second", "second_fields", "prefix"}),
}
"""What an argument of a transform can be: the names of fields, old → new names, the field that is summed up, whether a
group's entries are kept, the second collection, its fields where they are called otherwise, what clashing names begin with."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What a person may be asked to choose after a failure of this code: which arguments would change, and how."""

    code: str
    key: ChoiceKey
    """Names its label, `choice.KEY` of the texts."""
    set: dict[str, Any] = {}
    """Argument → the value that it gets."""
    fill: tuple[str, ...] = ()
    """Arguments whose value the executor suggests; a target stays in the folder that it was in."""
    drop: tuple[str, ...] = ()
    """Arguments that are left out then."""


class Resource(msgspec.Struct, frozen=True, kw_only=True):
    """What a call touches. `arg` names the argument that holds the path, host or account; or `value` is fixed."""

    kind: ResourceKind
    arg: str | None = None
    value: str | None = None


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    timeout_s: int | float = 30.0
    memory_mb: int = 512
    output_bytes: int = 16 * 1024 * 1024


class CodeFile(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    sha256: str
    length: int


class Contract(msgspec.Struct, frozen=True, kw_only=True):
    """Every field is in the manifest's JSON Schema; see `docs/executors.md`."""

    name: str
    version: str
    origin: Origin = "catalog"
    placement: Placement = "worker"
    families: tuple[Intent, ...] = ()
    args: dict[str, Any] = {}
    """JSON Schema 2020-12, an object; `additionalProperties: false` unless foreign."""
    result: dict[str, Any] = {}
    """JSON Schema 2020-12 of `Result.data`."""
    consumes: Consumes | None = None
    produces: Produces | None = None
    requires_one_of: tuple[tuple[str, ...], ...] = ()
    """Each group: at least one of its arguments must be given."""
    effects: tuple[EffectRule, ...] = (EffectRule(effect="execute"),)
    idempotent: bool = False
    probe: bool = False
    undo: bool = False
    per_entry_approval: bool = False
    targets: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()
    own_text: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    opens_secrets: tuple[str, ...] = ()
    field_of_input: tuple[str, ...] = ()
    """Arguments whose value names a field (or lists fields) of the consumed entries."""
    missing_arg: str | None = None
    """The argument that decides `error | null | drop` for a field an open kind may lack."""
    resources: tuple[Resource, ...] | None = None
    """`()`: touches nothing; None: undeclared, overlaps everything."""
    choices: tuple[Choice, ...] = ()
    """What a failure may leave to a person; anything else that an executor offers is not shown."""
    limits: Limits = Limits()
    platforms: tuple[str, ...] = ()
    descriptions: dict[str, str] = {}
    files: tuple[CodeFile, ...] = ()
    distributions: tuple[str, ...] = ()
    lenient: bool = False
    """Foreign by declaration: outputs count as required, an index may fail as class `data`, scalars join."""
    original: str = ""
    """What a foreign tool calls itself, if `name` is an alias; `""`: the same."""
    digest: str = ""
    """`sha256:…` over the canonical signed payload."""

    @property
    def reference(self) -> str:
        """`name@version`, as operation ids and logs write it."""
        return f"{self.name}@{self.version}"
