"""The proposer of this house: routing, a question or a refusal where code can tell, else one call to a model.

    planner = Planner(registry, catalog, home=settings.home_folder)
    Engine.open(proposer=planner)

Law: what reaches a model is the request, the contracts, and where a turn goes on the names and types of what it has. No
result of a tool, no message of a failure and no name of a file is ever part of a prompt. A plan that a model wrote under
the grammar has passed validator and guards before it is handed over. Each purpose has its way:

| purpose | what is done |
|---|---|
| first | what is to be done is read where the lexicon leaves a gap; a question or a refusal by code; else a plan, line by line |
| repair | the lines before the first fault stand, its choice is closed; if nothing is left, a new plan, told the faults |
| recovery | a new plan without the tool that failed |
| continuation | a new plan, told what is given and done, by name and type |
"""

from __future__ import annotations

import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from metnos.checks.guards.asked import GENERAL
from metnos.checks.model import CheckContext
from metnos.propose.acts import NOTHING, has_gap
from metnos.propose.decode.choices import Choice
from metnos.propose.decode.heads import Below
from metnos.propose.decode.loop import Decoder
from metnos.propose.decode.model import Bounds, Impossible, Written
from metnos.propose.decode.state import Checks
from metnos.propose.doubt import CLOSE, NEAR, is_doubtful
from metnos.propose.model import Declined, Proposal
from metnos.propose.models.ports import Message, ModelFault, Stop
from metnos.propose.models.registry import decodes
from metnos.propose.purposes import failed_tools, kept, plain, without_faults
from metnos.propose.telling import told, with_reading, with_wasted
from metnos.request.acts import with_acts
from metnos.request.understand import understand

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from metnos.contracts.catalog import Catalog
    from metnos.propose.acts import Reading
    from metnos.propose.candidates import Candidates
    from metnos.propose.decode.state import Plan
    from metnos.propose.model import PlanRequest
    from metnos.propose.models.config import ModelConfig
    from metnos.propose.models.ports import ChatModel, DecodingModel, Role, Session
    from metnos.propose.models.registry import RoleModel
    from metnos.propose.routing import Routed
    from metnos.request.model import Request

MOST_TOKENS: Final = 1200
"""Of a plan that a model writes as JSON, without a grammar of ours."""


class Models(Protocol):
    """What is needed of a registry."""

    def role(self, role: Role) -> RoleModel:
        """The models of a role, as one."""
        ...


class Prompt(Protocol):
    """What a model that decodes is told."""

    @property
    def opening(self) -> str:
        """What the answer to a request that can be done begins with, before the plan."""
        ...

    def prefix(self, candidates: Candidates) -> Sequence[Message]:
        """Before the request: the same bytes each time, so that its state is kept."""
        ...

    def question(self, request: PlanRequest, candidates: Candidates, names: Sequence[str]) -> str:
        """The message that the plan answers; `names` are the tools for this request, best first."""
        ...


class Gate(Protocol):
    """Whether a model thinks that the tools can do what is asked."""

    def __call__(self, session: Session, request: PlanRequest, config: ModelConfig, other: float | None, /) -> float:
        """Judge, the request asked and the answer open; leave the session as it was. Below 0: they cannot.

        `other`: what the request was read to be beside all that can be done (`propose.acts.Reading.other`).
        """
        ...


class PlainPrompt:
    """The plan language in a page and the tools; then the request."""

    opening = ""

    def prefix(self, candidates: Candidates) -> Sequence[Message]:
        """All tools, in English."""
        return (Message("system", candidates.as_prompt()),)

    def question(self, request: PlanRequest, candidates: Candidates, names: Sequence[str]) -> str:
        """The request, and what is given."""
        del candidates, names
        return request.as_prompt()


class _Task(msgspec.Struct, frozen=True, kw_only=True):
    """One call, understood."""

    request: PlanRequest
    understood: Request
    candidates: Candidates
    names: tuple[str, ...]
    routed: Routed
    decoder: Decoder
    steps: tuple[Plan, ...] = ()
    masked: frozenset[Choice] = frozenset()


class Planner:
    """A proposer: `(request, candidates) -> Proposal | Declined`. Safe between threads.

    Raises, when called:
        ModelFault: No model of the role gave anything.
    """

    def __init__(
        self,
        models: Models,
        catalog: Catalog,
        *,
        home: str = "",
        role: Role = "middle",
        prompt: Prompt | None = None,
        gate: Gate | None = None,
        doubt: Callable[[ModelConfig], float] | None = None,
        bounds: Bounds | None = None,
        router: Callable[..., Routed] | None = None,
        there: Callable[[str], bool] | None = None,
        reader: Callable[[Request, Stop], Reading] | None = None,
    ) -> None:
        """Prepare; no model is opened.

        Args:
            models: The registry.
            catalog: What a plan may name; its checks are made here.
            home: What `~` means in what a person says; empty: nothing.
            role: Whose models plan.
            prompt: What those that decode are told.
            gate: Asked before a plan is decoded, behind the request; None: nobody is.
            doubt: From which surprise on (nats) a plan of a model is shown before it runs (`propose.doubt`); None: none is.
            bounds: What one plan may cost.
            router: Which tools a plan may name; None: `Router` over the catalog.
            there: Whether a file or folder is there, asked of passages of the request alone; None: nobody may look.
            reader: Reads what is to be done where the lexicon leaves a gap (`propose.acts`); None: nobody does.
        """
        self._models = models
        self._catalog = catalog
        self._checks = Checks(catalog)
        self._home = home
        self._role: Role = role
        self._prompt = prompt or PlainPrompt()
        self._gate = gate
        self._doubt = doubt
        self._bounds = bounds
        self._router = router
        self._there = there
        self._reader = reader
        self._running: set[Stop] = set()
        self._lock = threading.Lock()

    def __call__(
        self, request: PlanRequest, candidates: Candidates, *, stop: Stop | None = None
    ) -> Proposal | Declined:
        """A plan for `request` out of `candidates`.

        Args:
            request: What the turn asks.
            candidates: The tools that it may name.
            stop: When to end early; None: only `cancel` does.
        """
        with self._stoppable(stop) as running:
            task, reading = self._understood(request, candidates, running)
            known = self._known(task, reading) if request.purpose == "first" else None
            if known is not None:
                return with_reading(told(known, ""), reading)
            done = self._models.role(self._role).attempt(
                lambda model, config, limits: self._work(task, reading, model, config, limits), stop=running
            )
        return with_reading(with_wasted(done), reading)

    def _understood(self, request: PlanRequest, candidates: Candidates, stop: Stop) -> tuple[_Task, Reading]:
        """The call, and what a model read in the request where its words leave open what is to be done."""
        task = self._task(request, candidates)
        if self._reader is None or not self._is_left_open(task):
            return task, NOTHING
        reading = self._reader(task.understood, stop)
        if not reading.acts:
            return task, reading
        return self._task(request.read_as(with_acts(task.understood, reading.acts)), candidates), reading

    @property
    def router(self) -> Callable[..., Routed]:
        """What routes; made when first asked."""
        if self._router is None:
            from metnos.propose.routing import Router

            self._router = Router(self._catalog)
        return self._router

    def _known(self, task: _Task, reading: Reading) -> Written | Impossible | None:
        """What is said without a model.

        Where no tool knows any part of the request, that: nothing is asked for a thing that no tool makes ("set the
        alarm": where to?). Where nothing would be asked, a gate decides, if there is one.
        """
        known = task.decoder.refused()
        parts = task.routed.clauses
        unknown = bool(parts) and not reading.acts and not any(part.served for part in parts)
        general = isinstance(known, Written) and not task.decoder.offers.mentions(GENERAL)
        if unknown and (general or (known is None and self._gate is None)):
            return Impossible(code="out-of-scope", about=", ".join(task.routed.unserved))
        return known

    def cancel(self) -> None:
        """End every call that runs now, at its next token; from any thread."""
        with self._lock:
            for stop in self._running:
                stop.cancel()

    @contextmanager
    def _stoppable(self, stop: Stop | None) -> Generator[Stop]:
        running = stop or Stop()
        with self._lock:
            self._running.add(running)
        try:
            yield running
        finally:
            with self._lock:
                self._running.discard(running)

    # --- one call

    def _task(self, request: PlanRequest, candidates: Candidates) -> _Task:
        understood = request.understood or understand(request.text, request.language)
        there = frozenset(candidates.names)
        failed = failed_tools(request)
        routed = self.router(understood, without=failed)
        names = tuple(name for name in routed.names if name in there and name not in failed)
        context = CheckContext(
            source="model",
            request=understood,
            home=self._home,
            inputs=dict(request.inputs),
            earlier_steps=dict(request.earlier),
        )
        looker: object = self._there
        if isinstance(looker, Below):
            looker.forget()
        decoder = Decoder(self._checks, names, understood, context, bounds=self._bounds, there=self._there)
        steps, masked = kept(request) if request.purpose == "repair" else ((), frozenset[Choice]())
        return _Task(
            request=request,
            understood=understood,
            candidates=candidates,
            names=names,
            routed=routed,
            decoder=decoder,
            steps=steps,
            masked=masked,
        )

    def _work(
        self, task: _Task, reading: Reading, model: ChatModel, config: ModelConfig, stop: Stop
    ) -> Proposal | Declined:
        if decodes(model):
            return self._decoded(task, reading, model, config, stop)
        return self._completed(task, model, stop)

    def _decoded(
        self, task: _Task, reading: Reading, model: DecodingModel, config: ModelConfig, stop: Stop
    ) -> Proposal | Declined:
        if not config.sha256:  # gauges are of weights, pinned or not
            config = msgspec.structs.replace(config, sha256=getattr(model, "digest", ""))
        with closing(model.session(self._prompt.prefix(task.candidates), stop=stop)) as session:
            request = task.request
            mark = session.mark()
            self._ask(session, without_faults(request), task)
            lead = NEAR
            if self._gate is not None and not reading.certain and self._is_in_doubt(task):
                lead = self._gate(session, request, config, reading.other)
            if lead < (0.0 if self._doubt is None else -CLOSE):
                return told(Impossible(code="out-of-scope", usage=session.usage), model.name)
            self._open(session)
            written = task.decoder.decode(session, steps=task.steps, masked=task.masked)
            if isinstance(written, Impossible) and request.purpose == "repair" and request.diagnostics:
                session.rewind(mark)
                self._ask(session, request, task)
                self._open(session)
                written = task.decoder.decode(session)
            said = told(written, model.name, session.usage)
            if self._doubt is None or isinstance(written, Impossible) or isinstance(said, Declined):
                return said
            return msgspec.structs.replace(
                said, unsure=is_doubtful(written, self._doubt(config), request.purpose, lead)
            )

    def _is_left_open(self, task: _Task) -> bool:
        """Whether a reading of the request may tell what nobody knows: what is to be done, or whether that is anything here."""
        called = task.decoder.tools.wanted.called
        if task.request.purpose != "first" or called.plainly_inside or called.rows.certain:
            return False
        return has_gap(task.understood) or self._is_in_doubt(task)

    def _is_in_doubt(self, task: _Task) -> bool:
        """Whether the gate has something to judge: not where code knows that one text is looked for in files here, or what
        is asked of the rows of a table that is there, nor where tools know all that is said.
        """
        if task.request.purpose != "first":
            return False
        called = task.decoder.tools.wanted.called
        known = task.routed.plain or called.plainly_inside or called.rows.certain or task.decoder.tools.names_a_way
        return not (known or self._is_plain(task))

    def _is_plain(self, task: _Task) -> bool:
        """Whether tools know all that is said once names with blanks are read as the names that they are."""
        slots = task.decoder.offers.slots
        if slots == task.understood.slots:
            return False
        return self.router(msgspec.structs.replace(task.understood, slots=slots)).plain

    def _ask(self, session: Session, request: PlanRequest, task: _Task) -> None:
        session.ask(self._prompt.question(request, task.candidates, task.names))

    def _open(self, session: Session) -> None:
        if self._prompt.opening:
            session.feed(self._prompt.opening)

    def _completed(self, task: _Task, model: ChatModel, stop: Stop) -> Proposal:
        """One answer, held to the schema of the plan file as far as the server can; the turn checks it."""
        candidates = task.candidates.only(frozenset(task.names))
        prompt = PlainPrompt()  # worked examples are in line notation
        messages = (
            *prompt.prefix(candidates),
            Message("user", prompt.question(plain(task.request), candidates, task.names)),
        )
        answer = model.complete(messages, most_tokens=MOST_TOKENS, stop=stop, schema=candidates.plan_schema())
        if answer.finish == "length":
            raise ModelFault("model-length", f"no plan within {MOST_TOKENS} tokens", usage=answer.usage)
        return Proposal(
            answer.text,
            model=answer.model,
            tokens_in=answer.usage.tokens_in,
            tokens_out=answer.usage.tokens_out,
            calls=max(1, answer.usage.calls),
        )
