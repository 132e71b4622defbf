"""Operations, approvals and dialogs as rows, derived from the inputs and commands of a turn as they pass.

| what passes | row |
|---|---|
| `StartStep` with an effect, then `StepStarted` | operation: `intent`; its approval, if it has one: `used` |
| `StepFinished`, `StepFailed`, `StepStopped` | operation: `done`, `failed`, `stopped` |
| `StepUnknown`; `EffectProbed` | operation: `unknown`; `done`, `absent`, `unknown` |
| `AskApproval`; `ApprovalGiven` for that digest, `Refused`, `Expired` | approval: `asked`; `given`, `refused`, `expired` |
| `OpenDialog`; `DialogAnswered`, `DialogExpired` | dialog: `asked`; `answered`, `expired` |

Law: a guard, never a source. The machine is folded from records; these rows make a second effect of one operation
and a second use of one approval impossible even where a caller is wrong. Statements are collected here and
committed with the records they came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import msgspec

from metnos.policy.model import Deny
from metnos.record.faults import RecordFault
from metnos.turn.commands import AnyCommand, AskApproval, OpenDialog, StartStep
from metnos.turn.facts import AnyFact, PolicyDecided, StepUnknown
from metnos.turn.inputs import (
    AnyInput,
    ApprovalExpired,
    ApprovalGiven,
    ApprovalRefused,
    DialogAnswered,
    DialogExpired,
    EffectProbed,
    StepFailed,
    StepFinished,
    StepStarted,
    StepStopped,
)

_Facts: TypeAlias = tuple[AnyFact, ...]
Statement: TypeAlias = tuple[str, tuple[Any, ...], str]
"""SQL, its values, and the code of the fault if it does not change exactly one row."""

INTENT = (
    "INSERT INTO operation (turn, id, step, executor, args_digest, state, intent_seq, outcome_seq, fence)"
    " VALUES (?, ?, ?, ?, ?, 'intent', ?, NULL, ?)"
    " ON CONFLICT (turn, id) DO UPDATE SET state = 'intent', intent_seq = excluded.intent_seq, outcome_seq = NULL,"
    " fence = excluded.fence WHERE operation.state <> 'done'"
)
OUTCOME = "UPDATE operation SET state = ?, outcome_seq = ? WHERE turn = ? AND id = ? AND state IN ('intent', 'unknown')"
ASKED = (
    "INSERT INTO approval (turn, approval, step, executor, action, digest, state, asked_seq, expires)"
    " VALUES (?, ?, ?, ?, ?, ?, 'asked', ?, ?)"
    " ON CONFLICT (turn, approval) DO UPDATE SET asked_seq = excluded.asked_seq"
    " WHERE approval.state = 'asked' AND approval.digest = excluded.digest"
)
ANSWERED = "UPDATE approval SET state = ?, answered_seq = ? WHERE turn = ? AND approval = ? AND state = 'asked'"
USED = "UPDATE approval SET state = 'used', used_by = ? WHERE turn = ? AND approval = ? AND state = 'given'"
DIALOG_ASKED = (
    "INSERT INTO dialog (turn, dialog, state, asked_seq) VALUES (?, ?, 'asked', ?)"
    " ON CONFLICT (turn, dialog) DO UPDATE SET asked_seq = excluded.asked_seq WHERE dialog.state = 'asked'"
)
DIALOG_ANSWERED = "UPDATE dialog SET state = ?, answered_seq = ? WHERE turn = ? AND dialog = ? AND state = 'asked'"

_OUTCOME_STATES: dict[type[Any], str] = {StepFinished: "done", StepFailed: "failed", StepStopped: "stopped"}
_PROBE_STATES = {"done": "done", "absent": "absent", "unknown": "unknown"}
_ITEM_DOTS = 2
"""`plan.step.item` has two; `plan.step` one."""


class Consent(msgspec.Struct):
    """One approval as the ledger knows it."""

    approval: str
    step: str
    digest: str
    state: str
    expires: int = 0
    used_by: str = ""


class Ledger:
    """Of one turn and one writer."""

    def __init__(self, turn: str, fence: int) -> None:
        self._turn = turn
        self._fence = fence
        self._starts: dict[str, StartStep] = {}
        self._open: dict[str, str] = {}
        self._consents: dict[str, Consent] = {}
        self._consent_of: dict[str, Consent] = {}
        self._dialogs: set[str] = set()
        self.statements: list[Statement] = []
        self._by_input: dict[type[Any], Callable[[int, Any, _Facts], None]] = {
            StepStarted: self._started,
            StepFinished: self._ended,
            StepFailed: self._ended,
            StepStopped: self._ended,
            EffectProbed: self._probed,
            ApprovalGiven: self._given,
            ApprovalRefused: self._refused,
            ApprovalExpired: self._expired,
            DialogAnswered: self._answered,
            DialogExpired: self._dialog_expired,
        }

    def restore(
        self, operations: Iterable[tuple[str, str]], consents: Iterable[Consent], dialogs: Iterable[str]
    ) -> None:
        """Go on from stored rows: (step, id) of operations without an outcome, approvals, open dialogs."""
        self._open.update(operations)
        for consent in consents:
            self._consents[consent.approval] = self._consent_of[consent.step] = consent
        self._dialogs.update(dialogs)

    def adopt(self, commands: Iterable[AnyCommand]) -> None:
        """Remember what was asked before this writer began; its rows are there already."""
        for command in commands:
            if isinstance(command, StartStep):
                self._starts[command.step] = command
            elif isinstance(command, AskApproval | OpenDialog):
                self._consent_is(command)

    def _consent_is(self, command: AskApproval | OpenDialog) -> None:
        """Of which approval a step needs from here on: of the one that was asked last; of none where a person is asked how
        a step that failed is to be run again, until that is asked about.
        """
        if isinstance(command, AskApproval):
            if command.approval in self._consents:
                self._consent_of[command.step] = self._consents[command.approval]
            return
        for step in command.calls:
            self._consent_of.pop(step, None)
            self._consent_of.pop(step.rpartition(".")[0], None)

    def derive(self, seq: int, item: AnyInput, facts: _Facts, commands: tuple[AnyCommand, ...]) -> None:
        """Collect the statements of one input (number `seq`) and its reaction.

        Raises:
            RecordFault: `step-not-asked`, `approval-used`, `approval-not-given`; nothing was collected.
        """
        handler = self._by_input.get(type(item))
        if handler is not None:
            handler(seq, item, facts)
        if self._open:
            for fact in facts:
                if type(fact) is StepUnknown and fact.step in self._open:
                    self._outcome("unknown", seq, self._open[fact.step])
        for command in commands:
            if type(command) is StartStep:
                self._starts[command.step] = command
            elif type(command) is AskApproval:
                self._asked(seq, command)
            elif type(command) is OpenDialog:
                self._dialogs.add(command.dialog)
                self._consent_is(command)
                self._collect(DIALOG_ASKED, (self._turn, command.dialog, seq), "dialog-answered")

    def _collect(self, sql: str, values: tuple[Any, ...], code: str) -> None:
        self.statements.append((sql, values, code))

    def _outcome(self, state: str, seq: int, operation: str) -> None:
        self._collect(OUTCOME, (state, seq, self._turn, operation), "ledger-mismatch")

    def _started(self, seq: int, item: StepStarted, _facts: _Facts) -> None:
        start = self._starts.get(item.step)
        if start is None:
            raise RecordFault(
                "step-not-asked", f"step {item.step} was started and never asked for", turn=self._turn, seq=seq
            )
        if start.effect == "read":
            return
        if item.fence != self._fence:
            raise RecordFault("stale-fence", f"step {item.step} carries fence {item.fence}", turn=self._turn, seq=seq)
        self._use_consent(seq, item)
        self._open[item.step] = item.operation
        values = (self._turn, item.operation, item.step, start.executor, start.digest, seq, self._fence)
        self._collect(INTENT, values, "operation-done")

    def _use_consent(self, seq: int, item: StepStarted) -> None:
        consent = self._consent_of.get(item.step)
        listed = False
        if consent is None and item.step.count(".") == _ITEM_DOTS:
            consent, listed = self._consent_of.get(item.step.rpartition(".")[0]), True
        if consent is None:
            return
        if consent.state == "given":
            consent.state, consent.used_by = "used", item.operation
            self._collect(USED, (item.operation, self._turn, consent.approval), "approval-used")
        elif consent.state != "used":
            detail = f"approval {consent.approval} of step {item.step} is {consent.state}"
            raise RecordFault("approval-not-given", detail, turn=self._turn, seq=seq)
        elif not listed and consent.used_by != item.operation:
            detail = f"approval {consent.approval} was used by another operation"
            raise RecordFault("approval-used", detail, turn=self._turn, seq=seq)

    def _ended(self, seq: int, item: StepFinished | StepFailed | StepStopped, facts: _Facts) -> None:
        if item.step not in self._open:
            return  # a read
        if any(type(fact) is StepUnknown and fact.step == item.step for fact in facts):
            return  # the machine does not believe that it ended: `derive` writes `unknown`
        operation = self._open.pop(item.step, None)
        if operation is not None:
            self._outcome(_OUTCOME_STATES[type(item)], seq, operation)

    def _probed(self, seq: int, item: EffectProbed, _facts: _Facts) -> None:
        operation = self._open.get(item.step)
        if operation is not None:
            if item.found != "unknown":
                del self._open[item.step]
            self._outcome(_PROBE_STATES[item.found], seq, operation)

    def _asked(self, seq: int, command: AskApproval) -> None:
        known = self._consents.get(command.approval)
        if known is None:
            known = Consent(command.approval, command.step, command.digest, "asked", command.expires)
            self._consents[command.approval] = self._consent_of[command.step] = known
        values = (
            self._turn,
            command.approval,
            command.step,
            command.executor,
            command.action,
            command.digest,
            seq,
            command.expires,
        )
        self._collect(ASKED, values, "approval-used")

    def _given(self, seq: int, item: ApprovalGiven, facts: _Facts) -> None:
        consent = self._consents.get(item.approval)
        if consent is None or consent.digest != item.digest or _denied(consent.step, facts):
            return  # the machine refused it as a value (another hash, a stranger); no row may say that it counts
        late = consent.expires > 0 and item.at > consent.expires
        self._answer(seq, item.approval, "expired" if late else "given")

    def _refused(self, seq: int, item: ApprovalRefused, _facts: _Facts) -> None:
        self._answer(seq, item.approval, "refused")

    def _expired(self, seq: int, item: ApprovalExpired, _facts: _Facts) -> None:
        self._answer(seq, item.approval, "expired")

    def _answer(self, seq: int, approval: str, state: str) -> None:
        consent = self._consents.get(approval)
        if consent is None:
            return
        if consent.state != "asked":
            detail = f"approval {approval} is {consent.state} already"
            raise RecordFault("approval-used", detail, turn=self._turn, seq=seq)
        consent.state = state
        self._collect(ANSWERED, (state, seq, self._turn, approval), "approval-used")

    def _answered(self, seq: int, item: DialogAnswered, _facts: _Facts) -> None:
        self._close_dialog(seq, item.dialog, "answered")

    def _dialog_expired(self, seq: int, item: DialogExpired, _facts: _Facts) -> None:
        self._close_dialog(seq, item.dialog, "expired")

    def _close_dialog(self, seq: int, dialog: str, state: str) -> None:
        if dialog in self._dialogs:
            self._dialogs.discard(dialog)
            self._collect(DIALOG_ANSWERED, (state, seq, self._turn, dialog), "dialog-answered")


def _denied(step: str, facts: _Facts) -> bool:
    return any(type(fact) is PolicyDecided and fact.step == step and isinstance(fact.verdict, Deny) for fact in facts)
