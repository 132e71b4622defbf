"""A small outside of files, contracts for it, and a hand-driven turn. Import as `from tests.support.turns import Play`.

Contracts (all `@1`): `noop`, `join` and `loose` (foreign, lenient) are pure; `list`, `read` and `peek` (undeclared) read; `write` changes and is
neither idempotent nor probed, `save` is idempotent, `put` has a probe; `make` creates, or changes with
`overwrite`; `remove` deletes and asks per entry; `send` is denied by policy.
"""

from __future__ import annotations

from typing import Any

from metnos.checks.model import CheckContext, Checked, Guarded
from metnos.checks.validator import Validator
from metnos.contracts.model import Choice, Consumes, Contract, EffectRule, Produces, Resource
from metnos.policy.decide import decide
from metnos.request.model import Request
from metnos.sdk import Effect, EffectClass, ErrorClass, Failure
from metnos.turn import commands as c
from metnos.turn import facts as f
from metnos.turn import inputs as i
from metnos.turn.rules import Reaction, Rules
from metnos.turn.turn import Machine

FOLDER = "/home/ada"
NOW = "2026-11-30T12:00:00+01:00"
STRING = {"type": "string"}
PATH = (Resource(kind="root", arg="path"),)
FILE = {
    "type": "object",
    "properties": {"path": STRING, "size": {"type": "integer"}},
    "required": ["path", "size"],
    "additionalProperties": False,
}


def object_of(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    """A closed object schema."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def effects(*classes: EffectClass) -> tuple[EffectRule, ...]:
    return tuple(EffectRule(effect=effect) for effect in classes)


def writer(name: str, effect: EffectClass, **fields: Any) -> Contract:
    """An executor that changes one file."""
    return Contract(
        name=name,
        version="1",
        effects=effects(effect),
        targets=("path",),
        resources=PATH,
        args=object_of({"path": STRING, "content": {}}, "path"),
        result=object_of({"path": STRING, "content": {}}, "path", "content"),
        digest=f"sha256:{name}",
        **fields,
    )


TEXT = object_of({"path": STRING, "text": STRING}, "path", "text")
CONTRACTS = (
    Contract(
        name="noop",
        version="1",
        placement="inline",
        effects=effects("read"),
        resources=(),
        digest="sha256:noop",
        args=object_of({"x": {}}),
        result=object_of({"v": {}}, "v"),
    ),
    Contract(
        name="loose",
        version="1",
        placement="inline",
        effects=effects("read"),
        resources=(),
        digest="sha256:loose",
        args=object_of({"x": {}}),
        result={"type": "object"},
        lenient=True,
        origin="foreign",
        produces=Produces(kind="row", field="rows"),
    ),
    Contract(
        name="join",
        version="1",
        placement="inline",
        effects=effects("read"),
        resources=(),
        digest="sha256:join",
        args=object_of({"parts": {"type": "array"}}, "parts"),
        result=object_of({"v": {}}, "v"),
    ),
    Contract(
        name="list",
        version="1",
        effects=effects("read"),
        resources=PATH,
        digest="sha256:list",
        args=object_of({"path": {"type": "string", "default": "."}}),
        result=object_of({"entries": {"type": "array", "items": FILE}}, "entries"),
        produces=Produces(kind="file", field="entries"),
    ),
    Contract(
        name="read",
        version="1",
        effects=effects("read"),
        resources=PATH,
        digest="sha256:read",
        args=object_of({"path": {"type": ["string", "object"]}}, "path"),
        result=TEXT,
        consumes=Consumes(into="path", kinds=("file",), many=False),
        produces=Produces(kind="text", field="text", many=False),
    ),
    Contract(
        name="peek",
        version="1",
        effects=effects("read"),
        resources=None,
        digest="sha256:peek",
        args=object_of({"x": {}}),
        result=object_of({"v": {}}, "v"),
    ),
    writer("write", "change"),
    writer("save", "change", idempotent=True),
    writer("put", "change", probe=True),
    Contract(
        name="make",
        version="1",
        targets=("path",),
        resources=PATH,
        digest="sha256:make",
        effects=(EffectRule(effect="change", when={"overwrite": True}), EffectRule(effect="create")),
        args=object_of({"path": STRING, "overwrite": {"type": "boolean", "default": False}}, "path"),
        choices=(
            Choice(code="exists", key="replace", set={"overwrite": True}),
            Choice(code="exists", key="beside", fill=("path",)),
        ),
        result=object_of({"path": STRING}, "path"),
    ),
    writer("remove", "delete", per_entry_approval=True),
    writer("send", "send"),
    writer("trust", "create", trusted=("content",), idempotent=True),
)


class View:
    """A catalog as the validator sees it."""

    def __init__(self, contracts: tuple[Contract, ...] = CONTRACTS) -> None:
        self._contracts = {contract.name: contract for contract in contracts}

    def get(self, name: str) -> Contract | None:
        return self._contracts.get(name)

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._contracts))


BY_REFERENCE = {contract.reference: contract for contract in CONTRACTS}
VALIDATOR = Validator(View())


def no_guard(checked: Checked, _context: CheckContext) -> Guarded:
    return Guarded(checked=checked)


def understand(text: str, language: str | None) -> Request:
    return Request(text=text, language=language or "en", normal_form=text.lower())


def rules(**changed: Any) -> Rules:
    """Real validator and policy, no guards."""
    fields: dict[str, Any] = {
        "normalise": understand,
        "validate": VALIDATOR,
        "guard": no_guard,
        "policy": decide,
        "policy_digest": "sha256:p",
    }
    return Rules(**(fields | changed))


def opened(plan: dict[str, Any] | None = None, **changed: Any) -> i.TurnOpened:
    fields: dict[str, Any] = {
        "turn": "t1",
        "now": NOW,
        "folder": FOLDER,
        "roots": ("/",),
        "mode": "run" if plan is not None else "ask",
        "plan": plan,
    }
    return i.TurnOpened(**(fields | changed))


def step(tool: str, args: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    return {"tool": tool, "args": args or {}, **fields}


def plan(*steps: dict[str, Any], end: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    return {"steps": [*steps, end or {"tool": "final_answer", "args": {}}], **fields}


def failure(cls: ErrorClass = "operational", code: str = "broken") -> Failure:
    return Failure(cls=cls, code=code)


class Play:
    """A turn driven by hand: every reaction is kept, open `StartStep`s are known by step."""

    def __init__(self, item: i.TurnOpened, used: Rules | None = None, at: int = 1_000) -> None:
        self.machine = Machine(used or rules())
        self.facts: list[f.AnyFact] = []
        self.commands: list[c.AnyCommand] = []
        self.starts: dict[str, c.StartStep] = {}
        self.at = at
        self.send(item)

    def send(self, item: i.AnyInput) -> Reaction:
        """Feed one input, at the play's time unless it has its own."""
        if item.at == 0:
            item = type(item)(**{**{n: getattr(item, n) for n in item.__struct_fields__}, "at": self.at})
        self.last = self.machine.receive(item)
        self.facts += self.last.facts
        self.commands += self.last.commands
        self.starts |= {command.step: command for command in self.last.commands if isinstance(command, c.StartStep)}
        return self.last

    def begin(self, key: str) -> Reaction:
        return self.send(i.StepStarted(step=key, operation=self.starts[key].operation))

    def done(self, key: str, data: Any = None, **fields: Any) -> Reaction:
        if not self.machine.state.calls[key].announced:
            self.begin(key)
        return self.send(i.StepFinished(step=key, data={"v": None} if data is None else data, **fields))

    def fail(self, key: str, cls: ErrorClass = "operational", code: str = "broken") -> Reaction:
        if not self.machine.state.calls[key].announced:
            self.begin(key)
        return self.send(i.StepFailed(step=key, error=failure(cls, code)))

    def approve(self, **fields: Any) -> Reaction:
        """Say yes to the one open approval."""
        (asked,) = self.machine.state.asked
        return self.send(i.ApprovalGiven(**({"approval": asked.approval, "digest": asked.digest} | fields)))

    def compose(self, text: str = "an answer") -> Reaction:
        return self.send(i.AnswerComposed(text=text))

    def told(self, kind: type[Any]) -> list[Any]:
        """Facts of a kind."""
        return [fact for fact in self.facts if isinstance(fact, kind)]

    def asked(self, kind: type[Any]) -> list[Any]:
        """Commands of a kind."""
        return [command for command in self.commands if isinstance(command, kind)]

    @property
    def started(self) -> list[str]:
        return [command.step for command in self.asked(c.StartStep)]

    @property
    def skipped(self) -> dict[str, str]:
        return {fact.step: fact.reason for fact in self.told(f.StepSkipped)}

    @property
    def phase(self) -> str:
        return self.machine.state.phase

    @property
    def states(self) -> dict[str, str]:
        return {run.key: run.state for run in self.machine.state.steps}

    @property
    def ended(self) -> f.TurnClosed:
        (fact,) = self.told(f.TurnClosed)
        return fact

    @property
    def close(self) -> c.Close:
        (command,) = self.asked(c.Close)
        return command


class Files:
    """The outside: contents by path; every effect is noted under its operation."""

    def __init__(self, contents: dict[str, Any] | None = None, failing: dict[str, ErrorClass] | None = None) -> None:
        self.contents: dict[str, Any] = dict(contents or {})
        self.failing = failing or {}
        """Step → class of its failure."""
        self.performed: list[tuple[str, str]] = []
        """(operation, step) of every effect, each time that it was made."""
        self.landed: dict[str, Any] = {}
        """Operation → what it returned."""

    def perform(self, start: c.StartStep) -> i.StepFinished | i.StepFailed:
        cls = self.failing.get(start.step)
        if cls is not None:
            return i.StepFailed(step=start.step, error=failure(cls))
        tool = start.executor.partition("@")[0]
        return i.StepFinished(step=start.step, **getattr(self, f"_{tool}", self._change)(start))

    def probe(self, command: c.ProbeEffect) -> i.EffectProbed:
        known = self.landed.get(command.operation)
        if known is None:
            return i.EffectProbed(step=command.step, found="absent")
        return i.EffectProbed(step=command.step, found="done", data=known)

    def _noop(self, start: c.StartStep) -> dict[str, Any]:
        return {"data": {"v": start.args.get("x")}}

    def _loose(self, start: c.StartStep) -> dict[str, Any]:
        return {"data": {"rows": [start.args.get("x")]}}

    def _join(self, start: c.StartStep) -> dict[str, Any]:
        return {"data": {"v": start.args["parts"]}}

    def _peek(self, _start: c.StartStep) -> dict[str, Any]:
        return {"data": {"v": sorted(self.contents.items())}}

    def _list(self, start: c.StartStep) -> dict[str, Any]:
        folder = self._path(start).rstrip("/") + "/"
        found = [path for path in sorted(self.contents) if path.startswith(folder)]
        return {"data": {"entries": [{"path": path, "size": len(str(self.contents[path]))} for path in found]}}

    def _read(self, start: c.StartStep) -> dict[str, Any]:
        path = self._path(start)
        return {"data": {"path": path, "text": str(self.contents.get(path, ""))}}

    def _change(self, start: c.StartStep) -> dict[str, Any]:
        path = self._path(start)
        self.performed.append((start.operation, start.step))
        if start.executor == "remove@1":
            self.contents.pop(path, None)
        else:
            self.contents[path] = start.args.get("content", "new")
        data = {"path": path, "content": start.args.get("content")}
        self.landed[start.operation] = data
        return {"data": data, "effects": (Effect(cls="change", target=path),)}

    def _path(self, start: c.StartStep) -> str:
        given = start.args.get("path", ".")
        given = given["path"] if isinstance(given, dict) else given
        return given if given.startswith("/") else f"{FOLDER}/{given}".removesuffix("/.")
