"""A failure that leaves a choice: a person says how the step is run again, or that it stays failed.

Law:

1. An executor offers, its contract allows: an option is shown only if a `Choice` of the contract has its code and key, and
   only with the arguments that this `Choice` sets, fills or drops. Changed arguments must fit the schema and lie in the
   granted folders before anybody sees them; a target that an executor suggests stays in the folder that it was in.
2. Only a call that has changed nothing waits for a choice, only where its failure would stop the turn, and only once.
3. The dialog is opened when nothing else can go on, so that a step over a list asks once for all the items that failed
   alike. Meanwhile their siblings run; what comes after the step waits.
4. With an answer the call is a new operation: argument digest, policy, approval and operation id are made anew. A choice
   is no consent: what must be asked about is asked about.
5. `stop` leaves the failure as it was. Silence does, too, and ends the turn as silence does everywhere (`user_aborted`).
"""

from __future__ import annotations

import re
from posixpath import dirname
from typing import TYPE_CHECKING, Any, Final

from msgspec import structs

from metnos.sdk import Option
from metnos.turn.answer import ask
from metnos.turn.arguments import check_arguments
from metnos.turn.claims import targets_of
from metnos.turn.commands import Offer, OpenDialog
from metnos.turn.consent import again
from metnos.turn.schedule import leave
from metnos.turn.state import Call
from metnos.turn.step import MAX_ITEMS, fail, settle_arguments
from metnos.values.sealed import has_handle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.contracts.model import Choice
    from metnos.sdk import Effect, Failure
    from metnos.turn.schedule import Order
    from metnos.turn.state import StepRun, TurnState

CHOICE: Final = "choice"
"""Name of the field that the dialog asks for."""
STOP: Final = "stop"
MOST: Final = 20
"""Options of one failure that are looked at."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


# --- what may be offered -----------------------------------------------------------------------------------------


def admitted(turn: TurnState, call: Call, error: Failure) -> tuple[Option, ...]:
    """The options of a failure that the contract allows, each with every argument that it would change."""
    found: list[Option] = []
    for option in error.options[:MOST]:
        for choice in call.run.known.contract.choices:
            if (choice.code, choice.key) == (error.code, option.key):
                changed = _changes(choice, option)
                whole = None if changed is None else Option(key=option.key, args=changed)
                if whole is not None and whole not in found and _fits(turn, call, choice, whole):
                    found.append(whole)
                break
    return tuple(found)


def _changes(choice: Choice, option: Option) -> dict[str, Any] | None:
    """Argument → new value, None for one that is dropped; None if the option says more, less or something else."""
    filled = {name: value for name, value in option.args.items() if name not in choice.set}
    same = all(choice.set.get(name, value) == value for name, value in option.args.items())
    if not same or set(filled) != set(choice.fill) or has_handle(filled):
        return None
    return {**dict.fromkeys(choice.drop), **choice.set, **filled}


def _fits(turn: TurnState, call: Call, choice: Choice, option: Option) -> bool:
    trial = Call(call.run, call.item, call.key, call.item_value)
    contract = call.run.known.contract
    trial.args = changed(call.args, option.args)
    if trial.args == call.args or check_arguments(contract, trial.args) is not None:
        return False
    if any(all(name not in trial.args for name in group) for group in contract.requires_one_of):
        return False
    if settle_arguments(turn, trial) is not None:
        return False
    before = {place for target in call.targets for place in (target, dirname(target))}
    suggested = {name: trial.args[name] for name in choice.fill if name in contract.targets}
    return all(dirname(target) in before for target in targets_of(contract, suggested, turn.opened.folder))


def changed(args: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """`args` with `changes`; what is None there is left out."""
    return {name: value for name, value in {**args, **changes}.items() if name not in changes or value is not None}


# --- waiting for it ----------------------------------------------------------------------------------------------


def may_choose(turn: TurnState, call: Call, effects: tuple[Effect, ...]) -> bool:
    """Whether a failure with options waits for a person instead of stopping the turn."""
    return (
        turn.opened.choices
        and not turn.halted
        and not call.chosen
        and call.run.step.on_error == "stop"
        and not any(effect.cls != "read" for effect in effects)
    )


def postpone(turn: TurnState, call: Call, error: Failure) -> None:
    """`call` has ended and its step has not: it waits for a choice, out of the way of its siblings."""
    turn.calls.pop(call.key, None)
    call.error = error
    call.state = "asking"
    turn.choosing.append(call)
    if not call.run.lifted:
        call.run.state = "asking"
    elif turn.plan.board is not None:
        turn.plan.board.place(_parked(call), call.claims, call.effect != "read")
        leave(turn, call.order)


def _parked(call: Call) -> Order:
    """A place on the board behind all items of the step, and before the next step."""
    return (call.run.number, MAX_ITEMS + call.item)


def offer(turn: TurnState) -> None:
    """Open the dialog for the first step that waits for a choice, if nothing else goes on."""
    if turn.calls or turn.pausing or turn.approvals or turn.open_fillers or turn.dialog is not None or turn.halted:
        return
    calls = _alike(turn.choosing)
    turn.dialogs += 1
    first = calls[0].error
    assert first is not None
    offers = tuple(_offers(calls))
    schema = {"type": "string", "enum": [*(one.name for one in offers), STOP]}
    turn.dialog = OpenDialog(
        dialog=f"{turn.opened.turn}.dialog{turn.dialogs}",
        form={CHOICE: {"schema": schema, "label": ""}},
        calls=tuple(call.key for call in calls),
        targets=tuple(target for call in calls for target in call.targets),
        failure=structs.replace(first, options=()),
        offers=offers,
    )
    ask(turn, turn.dialog)


def _alike(waiting: list[Call]) -> list[Call]:
    """The first step's first call, and those of the same step that failed alike, in the order of the items."""
    ordered = sorted(waiting, key=lambda call: call.order)
    return [call for call in ordered if call.run is ordered[0].run and _sort(call) == _sort(ordered[0])]


def _sort(call: Call) -> tuple[str, list[str]]:
    assert call.error is not None
    return call.error.code, _names(call.error.options)


def _names(options: tuple[Option, ...]) -> list[str]:
    """What an answer calls each: its key, where several have it the one value that they differ in, else a number."""
    keys = [option.key for option in options]
    names: list[str] = []
    for option in options:
        values = list(option.args.values())
        said = values[0] if len(values) == 1 and isinstance(values[0], str) else ""
        name: str = option.key
        if keys.count(option.key) > 1:
            name = said if _NAME.fullmatch(said) and said != STOP else f"{option.key}-{len(names) + 1}"
        names.append(name if name not in names else f"{option.key}-{len(names) + 1}")
    return names


def _offers(calls: list[Call]) -> Iterator[Offer]:
    options = [call.error.options for call in calls if call.error is not None]
    for number, name in enumerate(_names(options[0])):
        mine = [each[number] for each in options]
        yield Offer(name=name, key=mine[0].key, changes=tuple(option.args for option in mine))


# --- the answer --------------------------------------------------------------------------------------------------


def chosen(turn: TurnState, dialog: OpenDialog, answers: dict[str, Any]) -> None:
    """A person has chosen: run the calls again with what changes, or leave them as they failed."""
    calls = [call for call in turn.choosing if call.key in dialog.calls]
    calls.sort(key=lambda call: call.order)
    turn.choosing = [call for call in turn.choosing if call not in calls]
    turn.phase = "running"
    made = next((one for one in dialog.offers if one.name == answers[CHOICE]), None)
    if made is None:
        for call in calls:
            _give_up(turn, call)
        return
    for call, changes in zip(calls, made.changes, strict=True):
        _begin_again(turn, call, changes)
    again(turn, calls)


def _begin_again(turn: TurnState, call: Call, changes: dict[str, Any]) -> None:
    call.args = changed(call.args, changes)
    call.sources = call.sources.union(("user",))
    call.chosen = turn.dialogs
    call.error, call.start, call.expects = None, None, {}
    call.announced = call.began = False
    call.state = "ready"
    fault = settle_arguments(turn, call)
    assert fault is None  # it was offered
    if not call.run.lifted:
        call.run.state = "ready"
    if turn.plan.board is not None:
        turn.plan.board.place(call.order, call.claims, call.effect != "read")
        leave(turn, _parked(call))


def _give_up(turn: TurnState, call: Call) -> None:
    assert call.error is not None
    fail(turn, call, call.error)
    leave(turn, _parked(call))


def leave_unchosen(turn: TurnState) -> None:
    """The turn stops: what waited for a choice has failed."""
    waiting, turn.choosing = turn.choosing, []
    for call in waiting:
        _give_up(turn, call)


def chosen_runs(turn: TurnState) -> list[StepRun]:
    """Steps that were run with arguments that a person chose."""
    return [run for run in turn.steps if any(call.chosen for call in run.calls)]
