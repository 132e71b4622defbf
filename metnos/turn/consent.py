"""The binding question to policy, and the person's answer.

Law:

1. One question for a step; for a lifted step one for its list, with the strongest effect of its items and all
   their targets, unless the contract asks per entry. The verdict is recorded for each item.
2. An approval is bound to the hash that was shown. An answer with another hash, or by somebody who is neither the
   owner nor the actor of the turn, answers nothing: it is recorded as a denial (`approval-differs`,
   `approval-stranger`) and the question stays open, so that a stale or forged answer cannot end a turn either.
3. It is used once, and only before it expires: 24 hours after it was asked, by the `at` of the inputs. Silence is
   a person's no, not a rule's: `user_aborted`, code `approval-expired`.
4. It is bound to what the person saw, too: what lay at the targets when the question was asked (`TargetsSeen`) goes
   with the `StartStep`, and whoever runs it refuses if something else lies there by then (`changed-since`).
5. What a person allowed beforehand (`assume_yes`) is what their words ask for, not what a model read in them.
6. A refusal ends the turn `user_aborted`; what runs is let finish, nothing new starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from metnos.policy.approval import approval_hash, items_digest
from metnos.policy.model import Allow, AskUser, Deny, Question, Verdict
from metnos.turn.commands import AskApproval
from metnos.turn.facts import PolicyDecided
from metnos.turn.schedule import halt, held_back
from metnos.turn.scope import Scope
from metnos.turn.state import Approval
from metnos.turn.step import RANK, launch, repeat_of, take_over, worst
from metnos.values.expressions import DictOf
from metnos.values.resolve import Fault, resolve

if TYPE_CHECKING:
    from metnos.checks.model import CheckedStep
    from metnos.sdk import EffectClass
    from metnos.turn.inputs import ApprovalGiven, TargetsSeen
    from metnos.turn.state import Call, StepRun, TurnState

EXPIRES_US: Final = 24 * 3600 * 1_000_000
ALLOW: Final = Allow()


def clear(turn: TurnState, run: StepRun) -> None:
    """The calls of `run` are resolved: if nothing earlier is in the way, ask policy and start them."""
    if run.lifted or turn.plan.board is not None or len(turn.plans) > 1:
        _clear_any(turn, run)
        return
    (call,) = run.calls  # nothing can be in its way, and nothing repeats: most steps of most plans
    verdict = decide(turn, run.calls)
    turn.facts.append(PolicyDecided(step=call.key, verdict=verdict, digest=call.digest))
    if type(verdict) is Allow:
        launch(turn, call)
    elif type(verdict) is Deny:
        _deny(turn, verdict)
    else:
        _obey(turn, [(run.calls, verdict)])


def _clear_any(turn: TurnState, run: StepRun) -> None:
    calls = [call for call in run.calls if call.state == "ready"] if run.lifted else run.calls
    if turn.plan.board is not None and held_back(turn, run, (run.number, 0), calls):
        return
    if len(turn.plans) > 1:
        calls = [call for call in calls if not _is_repeat(turn, call)]
    if not calls:
        return
    _judge(turn, calls)


def again(turn: TurnState, calls: list[Call]) -> None:
    """The arguments of these calls of one step are a person's choice now: policy judges them as it judges any other."""
    if len(turn.plans) > 1:
        calls = [call for call in calls if not _is_repeat(turn, call)]
    if calls:
        _judge(turn, calls)


def _judge(turn: TurnState, calls: list[Call]) -> None:
    run = calls[0].run
    groups = [[call] for call in calls] if run.lifted and run.step.contract.per_entry_approval else [calls]
    decided = [(group, decide(turn, group)) for group in groups]
    denied: Deny | None = None
    for group, verdict in decided:
        for call in group:
            turn.facts.append(PolicyDecided(step=call.key, verdict=verdict, digest=call.digest))
        if type(verdict) is Deny and denied is None:
            denied = verdict
    if denied is None:
        _obey(turn, decided)
    else:
        _deny(turn, denied)


def _deny(turn: TurnState, denied: Deny) -> None:
    turn.mark("policy_denied", "policy-denied", denied.reason)
    halt(turn)


def _obey(turn: TurnState, decided: list[tuple[list[Call], Verdict]]) -> None:
    """Nothing is denied: ask about what must be asked, then start the rest."""
    for group, verdict in decided:
        if type(verdict) is AskUser:
            _ask(turn, group, verdict)
    for group, verdict in decided:
        if type(verdict) is Allow:
            for call in group:
                launch(turn, call)


def _is_repeat(turn: TurnState, call: Call) -> bool:
    done = repeat_of(turn, call)
    if done is not None:
        take_over(turn, call, done)
    return done is not None


# --- policy ------------------------------------------------------------------------------------------------------


def decide(turn: TurnState, calls: list[Call]) -> Verdict:
    """Policy's binding verdict on `calls`, which belong to one step."""
    run = calls[0].run
    step, contract = run.step, run.known.contract
    effect = calls[0].effect if len(calls) == 1 else worst([call.effect for call in calls])
    untrusted = _untrusted(turn, calls) if contract.trusted else ()
    targets = targets_of_all(calls) if contract.targets else ()
    if targets or untrusted:
        return turn.rules.policy(_question(turn, step, effect, targets, len(calls), untrusted))
    key = (run.reference, effect, len(calls))
    verdict = turn.verdicts.get(key)
    if verdict is None:
        verdict = turn.verdicts[key] = turn.rules.policy(_question(turn, step, effect, (), len(calls), ()))
    return verdict


def forecast(turn: TurnState, step: CheckedStep) -> Verdict:
    """Policy's view of a step whose references are open. A denial is one only if nothing weaker would be let through."""
    effect = step.worst_effect
    key = ("forecast", step.contract.reference, effect)
    verdict = turn.verdicts.get(key)
    if verdict is not None:
        return verdict
    verdict = turn.rules.policy(_question(turn, step, effect, (), 1, (), forecast=True))
    if isinstance(verdict, Deny):
        for rule in step.contract.effects:
            if RANK[rule.effect] < RANK[effect] and isinstance(verdict, Deny):
                verdict = turn.rules.policy(_question(turn, step, rule.effect, (), 1, (), forecast=True))
    turn.verdicts[key] = verdict
    return verdict


def _question(
    turn: TurnState,
    step: CheckedStep,
    effect: EffectClass,
    targets: tuple[str, ...],
    count: int,
    untrusted: tuple[tuple[str, str], ...],
    *,
    forecast: bool = False,
) -> Question:
    opened = turn.opened
    return Question(
        owner=opened.owner,
        channel=opened.channel,
        executor=step.contract.reference,
        origin=step.contract.origin,
        effect=effect,
        targets=targets,
        count=count,
        untrusted=untrusted,
        assume_yes=opened.assume_yes and not turn.inferred,
        forecast=forecast,
    )


def targets_of_all(calls: list[Call]) -> tuple[str, ...]:
    """What all `calls` act on, in the order of the items."""
    return calls[0].targets if len(calls) == 1 else tuple(target for call in calls for target in call.targets)


def _untrusted(turn: TurnState, calls: list[Call]) -> tuple[tuple[str, str], ...]:
    """Trusted-only arguments that are fed from outside, each with its sources."""
    step = calls[0].run.step
    if not isinstance(step.args, DictOf):
        return ()
    found: set[tuple[str, str]] = set()
    for name, expression in step.args.items:
        if name in step.contract.trusted:
            for call in calls:
                value = resolve(expression, Scope(turn, call.item_value))
                if not isinstance(value, Fault):
                    found |= {(name, source) for source in value.sources if source.startswith("untrusted:")}
    return tuple(sorted(found))


# --- a person ----------------------------------------------------------------------------------------------------


def _ask(turn: TurnState, calls: list[Call], verdict: AskUser) -> None:
    run = calls[0].run
    contract = run.step.contract
    one_entry = run.lifted and contract.per_entry_approval
    step = calls[0].key if one_entry else run.key
    digest = calls[0].digest if one_entry or not run.lifted else items_digest([call.digest for call in calls])
    targets = targets_of_all(calls)
    chosen = f".choice{calls[0].chosen}" if calls[0].chosen else ""
    command = AskApproval(
        approval=f"{turn.opened.turn}.{step}{chosen}",
        step=step,
        executor=contract.reference,
        action=worst([call.effect for call in calls]),
        reason=verdict.reason,
        digest=approval_hash(
            owner=turn.opened.owner,
            turn=turn.opened.turn,
            plan_digest=turn.plan.checked.digest,
            step=step,
            arguments=digest,
            targets=targets,
            count=len(calls),
            executor=contract.reference,
            policy=turn.rules.policy_digest,
        ),
        targets=targets,
        count=len(calls),
        expires=turn.at + EXPIRES_US,
    )
    for call in calls:
        call.state = "asking"
    run.state = "asking"
    turn.approvals[command.approval] = Approval(command, digest, calls)
    turn.commands.append(command)


def seen(approval: Approval, item: TargetsSeen) -> None:
    """What lay at the targets when the question was asked; a later look, after a resume, does not replace it."""
    if approval.seen is None:
        approval.seen = item.seen


def given(turn: TurnState, approval: Approval, answer: ApprovalGiven) -> None:
    """A person said yes: to this, in time, and with the right to say it?"""
    command = approval.command
    if turn.at > command.expires:
        expired(turn, approval)
        return
    wrong = None
    if answer.digest != command.digest:
        wrong = "approval-differs"
    elif answer.by not in (turn.opened.owner, turn.opened.actor):
        wrong = "approval-stranger"
    if wrong is not None:
        turn.facts.append(PolicyDecided(step=command.step, verdict=Deny(wrong), digest=approval.digest))
        return
    del turn.approvals[command.approval]
    for call in approval.calls:
        if call.run.lifted:
            turn.facts.append(PolicyDecided(step=call.key, verdict=ALLOW, digest=call.digest))
        call.expects = (approval.seen or {}).get(call.key, {})
        launch(turn, call)


def refused(turn: TurnState, approval: Approval) -> None:
    """A person said no."""
    del turn.approvals[approval.command.approval]
    turn.mark("user_aborted", "approval-refused", approval.command.step)
    halt(turn)


def expired(turn: TurnState, approval: Approval) -> None:
    """Nobody answered in time."""
    del turn.approvals[approval.command.approval]
    turn.mark("user_aborted", "approval-expired", approval.command.step)
    halt(turn)
