"""The validator: a plan and a catalog in, the plan bound and compiled, or every fault it has, out.

Law: one pass, every fault, each with its code and its place in the plan as written; bad data never raise. What it
accepts cannot fail at run time by a missing declared reference, type or tool: a property test generates plans and
proves it. It keeps what it has compiled of contracts, and nothing of any plan.

    checked = Validator(catalog)(plan, CheckContext(source="author"))
    if not checked.ok:
        print(checked.diagnostics[0].where)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from metnos.checks.arguments import check, inside_text
from metnos.checks.bound import Bound, bind
from metnos.checks.canonical import canonical
from metnos.checks.forged import forged_handles
from metnos.checks.model import CheckContext, Checked, CheckedStep
from metnos.checks.providers import providers_of
from metnos.checks.scope import Scope, listed
from metnos.checks.shapes import ANY
from metnos.checks.steps import MISSPELLED, check_step, compile_all
from metnos.contracts.schemas import check_schema
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.digests import plan_digest
from metnos.plan.faults import did_you_mean
from metnos.plan.jsondata import pointer
from metnos.plan.model import FinalAnswer, NeedsInputs, Plan
from metnos.plan.parse import read_plan
from metnos.plan.write import to_json
from metnos.values.expressions import Expression, Ref

if TYPE_CHECKING:
    from metnos.checks.made import Made
    from metnos.contracts.model import Contract

AUTHOR = CheckContext()
_NO_PLAN = Plan(steps=())


class CatalogView(Protocol):
    """What the validator needs of a catalog."""

    def get(self, name: str) -> Contract | None: ...
    def names(self) -> tuple[str, ...]: ...


class Validator:
    """Callable; warm after the first plan that names a tool."""

    def __init__(self, catalog: CatalogView) -> None:
        self._catalog = catalog
        self._bound: dict[str, Bound] = {}
        self._providers: dict[str, tuple[str, ...]] | None = None

    def __call__(self, plan: Plan | dict[str, Any] | bytes | str, context: CheckContext = AUTHOR) -> Checked:
        """Check a plan.

        Args:
            plan: A plan file (JSON text or object), or a `Plan`; places in diagnostics are those of its file.
            context: What may be known beside the plan and the catalog.
        """
        return self.so_far(plan, context)[0]

    def so_far(
        self, plan: Plan | dict[str, Any] | bytes | str, context: CheckContext = AUTHOR
    ) -> tuple[Checked, tuple[Made, ...]]:
        """The same, and what each step makes: for whoever writes a plan step by step.

        Returns:
            The verdict, and one `Made` for each step, faulty ones included; none if it is no plan at all.
        """
        parsed = read_plan(
            to_json(plan) if isinstance(plan, Plan) else plan, goes_on=context.goes_on and context.source == "model"
        )
        read = parsed.plan
        if read is None:
            return Checked(plan=_NO_PLAN, diagnostics=parsed.diagnostics), ()
        scope = Scope(read, context, parsed.diagnostics)
        steps = self._steps(scope, read)
        _schemas(scope, read)
        text, data = _terminal(scope, read, parsed.diagnostics)
        scope.faults += forged_handles(plan if isinstance(plan, dict) else to_json(read))
        made = tuple(scope.made)
        if scope.faults:
            return Checked(plan=read, diagnostics=_in_order(scope.faults)), made
        accepted = canonical(read)
        checked = Checked(
            plan=accepted, digest=plan_digest(accepted), steps=tuple(steps), answer_text=text, answer_data=data
        )
        return checked, made

    def bound(self, name: str) -> Bound | None:
        """The compiled contract of a tool; None if the catalog has none of that name."""
        contract = self._catalog.get(name)
        if contract is None:
            return None
        known = self._bound.get(name)
        if known is None or known.contract is not contract:
            known = self._bound[name] = bind(contract)
        return known

    @property
    def providers(self) -> dict[str, tuple[str, ...]]:
        """Provider → the families of its executors; see `providers.py`."""
        if self._providers is None:
            self._providers = providers_of(filter(None, map(self._catalog.get, self._catalog.names())))
        return self._providers

    def _steps(self, scope: Scope, plan: Plan) -> list[CheckedStep]:
        steps: list[CheckedStep] = []
        for index, step in enumerate(plan.steps):
            where = f"/steps/{index}"
            scope.enter(index + 1)
            bound = self.bound(step.tool)
            if bound is None and step.tool:
                self._unknown_tool(scope, step.tool, where)
            checked = check_step(scope, step, bound, where)
            if checked is not None:
                steps.append(checked)
        return steps

    def _unknown_tool(self, scope: Scope, tool: str, where: str) -> None:
        names = self._catalog.names()
        scope.fault("unknown-tool", f"{where}/tool", tool, f"one of {listed(names)}", did_you_mean(tool, names))


def _schemas(scope: Scope, plan: Plan) -> None:
    """The schemas that the plan itself brings."""
    for name, filler in plan.fillers.items():
        scope.faults.extend(check_schema(filler.schema, pointer("/fillers", name, "schema"), strict=False))
    if isinstance(plan.terminal, NeedsInputs):
        place = f"/steps/{len(plan.steps)}/args/form"
        for name, field in plan.terminal.form.items():
            scope.faults.extend(check_schema(field.schema, pointer(place, name, "schema"), strict=False))


def _terminal(scope: Scope, plan: Plan, found: tuple[Diagnostic, ...]) -> tuple[Expression | None, Expression | None]:
    """Compile `text` and `data` of a final answer; they may refer to every step."""
    terminal = plan.terminal
    if not isinstance(terminal, FinalAnswer):
        return None, None
    early = [fault.where for fault in found if fault.code in ("terminal-not-last", "terminal-twice")]
    place = f"{min(early) if early else f'/steps/{len(plan.steps)}'}/args"
    written: dict[str, Any] = {} if terminal.text is None else {"text": terminal.text}
    if terminal.has_data:
        written["data"] = terminal.data
    if not written:
        return None, None
    scope.enter(len(plan.steps) + 1)
    compiled = compile_all(scope, written, place)
    text, data = compiled.get("text"), compiled.get("data")
    if isinstance(text, Ref):
        inside_text(scope, text.reference, f"{place}/text")
    elif text is not None and text is not MISSPELLED:
        check(scope, text, ANY, f"{place}/text")
    if data is not None and data is not MISSPELLED:
        check(scope, data, ANY, f"{place}/data")
    return text, data


def _in_order(faults: list[Diagnostic]) -> tuple[Diagnostic, ...]:
    """By place in the file, one of a code at a place."""
    first: dict[tuple[str, str], Diagnostic] = {}
    for fault in faults:
        first.setdefault((fault.code, fault.where), fault)

    def place(fault: Diagnostic) -> list[tuple[int, str]]:
        return [(int(part), "") if part.isdecimal() else (-1, part) for part in fault.where.split("/")]

    return tuple(sorted(first.values(), key=place))
