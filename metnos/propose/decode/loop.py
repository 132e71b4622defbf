"""From a session to a plan: a line, a look at what it makes, the next line.

Law: a line that the checks refuse is taken back, its choice is closed, and the line is written anew; a whole plan that
they refuse is taken back to the first line that a diagnostic names. Every round closes at least one choice, and rounds,
refusals, lines and what is written in all are bounded (`Bounds`), so it ends, however bad the model. What comes out has passed validator and guards. No text but the request reaches the model here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metnos.plan.jsondata import is_list, spell
from metnos.propose.decode.asking import lacking
from metnos.propose.decode.choices import END, SOURCE, Choice, longest
from metnos.propose.decode.line import MOST_STEPS, WIDE, Tools
from metnos.propose.decode.model import Bounds, Impossible, Written
from metnos.propose.decode.offers import Offers
from metnos.propose.decode.state import END_STEP, NO_STEP, Checks, Judge, Plan, Sofar, begin
from metnos.propose.decode.styles import LINES, Style
from metnos.propose.decode.unsaid import unsaid
from metnos.propose.models.ports import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from metnos.checks.model import CheckContext
    from metnos.plan.diagnostics import Diagnostic
    from metnos.propose.decode.placed import Must
    from metnos.propose.models.ports import Session
    from metnos.request.model import Request


class Decoder:
    """One request, and everything that holds for all lines of its plan."""

    def __init__(
        self,
        checks: Checks,
        names: Iterable[str],
        request: Request,
        context: CheckContext,
        *,
        judge: Judge | None = None,
        bounds: Bounds | None = None,
        style: Style = LINES,
        there: Callable[[str], bool] | None = None,
    ) -> None:
        """Prepare.

        Args:
            checks: Over the whole catalog.
            names: Of the tools that may be named, best first.
            request: What was said.
            context: What may be known beside the plan; its request is `request`.
            judge: What accepts the whole plan; None: validator and guards of `checks`.
            bounds: How much it may cost.
            style: What it is written in.
            there: Whether a file or folder is there, asked of passages of the request; None: nobody may look.
        """
        self.checks = checks
        self.context = context
        self.request = request
        self.judge = judge or checks.judge(context)
        self.bounds = bounds or Bounds()
        self.style = style
        self.offers = Offers(request, there)
        named = (checks.validator.bound(name) for name in names)
        self.tools = Tools([bound for bound in named if bound is not None], self.offers, checks.validator.providers)

    def refused(self) -> Written | Impossible | None:
        """What can be said before a model is asked: a question, or that it cannot be done; None: ask it."""
        return lacking(self.tools, begin(self.checks, self.request, self.context))

    def decode(
        self, session: Session, *, steps: tuple[Plan, ...] = (), masked: frozenset[Choice] = frozenset()
    ) -> Written | Impossible:
        """Write a plan; what `refused` says comes first.

        Args:
            session: Behind the prompt, its answer open.
            steps: Steps that stand already; they are fed to the session.
            masked: Choices that are closed: at the line behind `steps`, or, where a tool as a whole is, everywhere.

        Raises:
            ModelFault: As the session says.
        """
        if not steps and not masked and (refused := self.refused()) is not None:
            return refused
        return _Writing(self, session, steps, masked).write()


class _Writing:
    """One plan being written."""

    def __init__(self, decoder: Decoder, session: Session, steps: tuple[Plan, ...], masked: frozenset[Choice]) -> None:
        self.of = decoder
        self.session = session
        self.before = session.usage
        self.everywhere = frozenset(choice for choice in masked if not choice.argument and choice.tool != END)
        self.sofar: list[Sofar] = [begin(decoder.checks, decoder.request, decoder.context)]
        self.marks: list[int] = [session.mark()]
        self.lines: list[str] = []
        self.masks: list[set[Choice]] = [set()]
        self.musts: list[list[Must]] = [[]]
        self.surprises: list[float] = []
        self.refusals = 0
        self.rounds = 0
        self.about = ""
        for step in steps:
            line = decoder.style.write(len(self.lines) + 1, step)
            session.feed(line)
            self._push(step, line, 0.0)
        self.masks[-1] |= masked

    def write(self) -> Written | Impossible:
        while self._may_go_on():
            done = self._next()
            if done is not None:
                return done
        return self._impossible()

    def _may_go_on(self) -> bool:
        bounds = self.of.bounds
        written = self.session.usage.tokens_out - self.before.tokens_out
        return (
            self.refusals <= bounds.refusals
            and self.rounds < bounds.rounds
            and written < bounds.tokens + len(self.of.request.text.encode(errors="replace"))
        )

    def _next(self) -> Written | Impossible | None:
        """One line more, or one less."""
        now = self.sofar[-1]
        line = self.of.tools.line(now, self._masked(-1), self.musts[-1])
        if now.number > MOST_STEPS and self.sofar[-2].covered:
            return self._impossible()  # it could have ended, and did not: nothing in it is meant
        if not line.forms and not line.ends:
            return self._back()
        decoded = self.session.decode(self.of.style.grammar(line), most_tokens=longest(line))
        if self.of.style.ends(decoded.text):
            return self._end(now, decoded.text, decoded.surprise)
        step, faults = self.of.style.read(decoded.text, now.number)
        if step is None:
            self._refuse(len(self.lines), NO_STEP, faults)
            return None
        bound = self.of.checks.validator.bound(step["tool"])
        twice = twice_named(step, bound.contract.targets if bound is not None else ())
        if twice:
            self._close(len(self.lines), {Choice(step["tool"], name, spell(step["args"][name])) for name in twice})
            return None
        step = self.of.tools.completed(step)
        if step in now.since_changed:
            self._close(len(self.lines), {Choice(step["tool"])})
            return None
        self._push(step, self.of.style.write(now.number, step), decoded.surprise)
        if self.sofar[-1].checked.diagnostics:
            faults = self.sofar[-1].checked.diagnostics
            self._pop(len(self.lines) - 1)
            self._refuse(len(self.lines), step, faults)
        return None

    def _masked(self, at: int) -> frozenset[Choice]:
        return frozenset(self.masks[at]) | self.everywhere

    def _end(self, now: Sofar, text: str, surprise: float) -> Written | None:
        if self._asks_for_more(now):
            return None
        plan: Plan = {"steps": [*now.steps, END_STEP]}
        faults = self.of.judge(plan)
        if not faults:
            lines = (*self.lines, text)
            wanted = self.of.tools.wanted
            plain = wanted.enough.is_plain
            meant = (at for at in range(1, now.number) if not (now.is_shown(at) or plain(now, at)))
            most = max(surprise, *(self.surprises[at - 1] for at in meant), 0.0)
            values = self.of.tools.values
            unplaced = sum(must.named for must in values.left(now)) + values.cut(now)
            return Written(
                plan=plan,
                lines=lines,
                usage=self._usage(),
                refused=self.refusals,
                surprise=most,
                unplaced=unplaced + unsaid(wanted, now),
                wide=any(step.waits and step.worst_effect in WIDE for step in now.checked.steps),
            )
        self.rounds += 1
        self.about = faults[0].expected
        at = min(step_of(fault.where, len(now.steps)) for fault in faults)
        first = tuple(fault for fault in faults if step_of(fault.where, len(now.steps)) == at)
        step = now.steps[at] if at < len(now.steps) else NO_STEP
        self._refuse(at, step, first)
        return None

    def _asks_for_more(self, now: Sofar) -> bool:
        """Whether a value of the request is left, and goes back to where it can be said.

        First where the tool that was named could have said it and did not, then here, then wherever a tool could.
        """
        for left in self.of.tools.values.left(now):
            places = [(at, step["tool"]) for at, step in enumerate(now.steps)]
            places += [(at, "") for at in (*range(len(now.steps)), len(now.steps))] if left.held else []
            places += [(at, "") for at in (len(now.steps), *range(len(now.steps)))] if not left.held else []
            for at, tool in places:
                must = left._replace(tool=tool)
                musts = [*self.musts[at], must]
                if self.of.tools.line(self.sofar[at], self._masked(at), musts).forms:
                    self.refusals += 1
                    self._pop(at)
                    self.musts[-1].append(must)
                    return True
        return False

    # --- forward and back

    def _push(self, step: Plan, line: str, surprise: float) -> None:
        self.lines.append(line)
        self.surprises.append(surprise)
        self.marks.append(self.session.mark())
        self.masks.append(set())
        self.musts.append([])
        before = self.sofar[-1]
        self.sofar.append(begin(self.of.checks, before.request, before.context, (*before.steps, step)))

    def _pop(self, count: int) -> None:
        """Back to `count` lines; the session forgets what came behind them."""
        del self.lines[count:], self.surprises[count:], self.sofar[count + 1 :]
        del self.masks[count + 1 :], self.marks[count + 1 :], self.musts[count + 1 :]
        self.session.rewind(self.marks[-1])

    def _refuse(self, at: int, step: Plan, faults: tuple[Diagnostic, ...]) -> None:
        self._close(at, {choice_of(fault.where, step) for fault in faults})

    def _close(self, at: int, choices: set[Choice]) -> None:
        """Close choices of line `at` (from 0), and write it anew."""
        self.refusals += 1
        self._pop(at)
        if choices <= self.masks[-1]:  # it was closed, and came again: the tool as a whole
            choices = {Choice(choice.tool) for choice in choices}
        self.masks[-1] |= choices

    def _back(self) -> Impossible | None:
        """Nothing can stand here: the line before was wrong."""
        if not self.lines:
            return self._impossible()
        at = len(self.lines) - 1
        step = self.sofar[-1].steps[-1]
        source = Choice(step["tool"], SOURCE, str(step["args"].get("from_step")))
        other = "from_step" in step["args"] and source not in self.masks[at]
        self._close(at, {source if other else Choice(step["tool"])})
        return None

    def _impossible(self) -> Impossible:
        return Impossible(code="out-of-scope", about=self.about, usage=self._usage(), refused=self.refusals)

    def _usage(self) -> Usage:
        after, before = self.session.usage, self.before
        names = Usage.__struct_fields__
        return Usage(**{name: getattr(after, name) - getattr(before, name) for name in names})


def twice_named(step: Plan, targets: Sequence[str] = ()) -> set[str]:
    """Arguments of a step that hold a word which another holds too, targets last: what is looked for is not where."""
    seen: dict[str, str] = {}
    found: set[str] = set()
    for name, value in sorted(step["args"].items(), key=lambda item: item[0] in targets):
        for each in value if is_list(value) else [value]:
            word = each.strip("*") if isinstance(each, str) else ""
            if word and not word.startswith("${") and seen.setdefault(word, name) != name:
                found.add(name)
    return found


def step_of(where: str, count: int) -> int:
    """The step (from 0) that a place in the plan belongs to; `count`: the end."""
    parts = where.split("/")
    found = parts[2] if len(parts) > 2 and parts[1] == "steps" else ""
    return min(int(found), count) if found.isdecimal() else count


def choice_of(where: str, step: Plan) -> Choice:
    """The choice that a fault at `where` closes."""
    tool: str = step["tool"]
    args: dict[str, Any] = step["args"]
    parts = where.split("/")
    if tool == END or len(parts) < 5 or parts[3] != "args":
        return Choice(tool)
    name = parts[4].replace("~1", "/").replace("~0", "~")
    if name in args and name != "from_step":
        return Choice(tool, name, spell(args[name]))
    return Choice(tool, SOURCE, str(args["from_step"])) if "from_step" in args else Choice(tool)
