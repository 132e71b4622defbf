"""The border: whatever an executor gave back becomes a `StepOutcome`, or a failed one with a code and a place.

Law: nothing passes it that is not strict JSON within the limits, valid by the contract, free of secrets in the
clear, and digested. In this order, and the reason of each:

1. plain JSON (a host function may hold on to what it returned: its result is copied), depth;
2. canonical bytes, which also bounds integers; size against the contract's limit (most results are seen to be plain,
   copied and made canonical in one writing, `jsondata.copied`);
3. the result schema, on what the executor said, before anything is replaced in it;
4. secrets, one cheap test over the bytes; only a hit looks at strings (and then digests anew);
5. the digest.

What is told beside the data (warnings, effects, error texts) is sealed by the same rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from metnos.execute.faults import VaultFault, failure_of
from metnos.execute.outcome import StepOutcome, failed
from metnos.execute.strict import MAX_DEPTH, NotJSON, require_depth, settle
from metnos.plan.jsondata import JSONFault, canonical, copied, digest_bytes
from metnos.sdk import SDK_VERSION, Effect, Failure, Result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from metnos.contracts.schemas import Validator
    from metnos.execute.secrets import Sealer

_BESIDE_BYTES = 256 * 1024
"""Warnings, effects, counters and error of one result, as JSON."""
SHORTEST = 12
"""No result of fewer canonical bytes can hold a secret and its quotes: the patterns are not even compiled."""
_decode_result = msgspec.json.Decoder(Result).decode


class Rules(Protocol):
    """What the border needs of a contract."""

    validator: Validator | None
    """Of the result schema; None where it admits everything."""
    output_bytes: int
    sources: tuple[str, ...]


class Border:
    """One per `Runners`; without state but the sealer, which is made when first needed."""

    def __init__(self, sealer: Callable[[], Sealer]) -> None:
        self._make_sealer = sealer
        self._sealer: Sealer | None = None

    def receive(self, returned: object, rules: Rules, args: Mapping[str, Any]) -> StepOutcome:
        """The outcome of a call in this process; `returned` is a `Result` or any JSON value."""
        try:
            if isinstance(returned, Result):
                return self._result(returned, rules, args, plain=False)
            return self._data(returned, rules, args, None)
        except (VaultFault, OSError) as fault:
            return unsealable(fault, returned.effects if isinstance(returned, Result) else ())

    def receive_bytes(self, frame: bytes, rules: Rules, args: Mapping[str, Any]) -> StepOutcome:
        """The outcome of a worker's call: `frame` claims to be the JSON of a `Result`."""
        try:
            result = _decode_result(frame)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
            # Not its executor's fault alone: whether an effect was made cannot be told from it.
            return self.refuse(failed("crashed", "worker-garbage", f"its result cannot be read: {fault}"), args)
        try:
            return self._result(result, rules, args, plain=True)
        except (VaultFault, OSError) as fault:
            return unsealable(fault, result.effects)

    def raised(self, fault: BaseException, args: Mapping[str, Any]) -> StepOutcome:
        """The outcome of a call that raised."""
        return self.refuse(StepOutcome(status="failed", error=failure_of(fault)), args)

    def refuse(self, outcome: StepOutcome, args: Mapping[str, Any]) -> StepOutcome:
        """A failed outcome, its texts sealed."""
        try:
            return self._seal_beside(outcome, args)
        except (VaultFault, OSError) as fault:
            return unsealable(fault, outcome.effects)

    # --- a Result ------------------------------------------------------------------------------------------------

    def _result(self, result: Result, rules: Rules, args: Mapping[str, Any], *, plain: bool) -> StepOutcome:
        if result.version != SDK_VERSION:
            message = f"the result has version {result.version}; this SDK reads {SDK_VERSION}"
            return failed("internal", "result-version", message)
        if not plain:
            try:
                result = _typed(result)
            except (NotJSON, msgspec.MsgspecError, TypeError, ValueError, RecursionError) as fault:
                return self.refuse(failed("internal", "result-malformed", str(fault)[:500]), args)
        if not result.ok or result.error is not None:
            error = result.error or Failure(
                cls="internal", code="result-malformed", message="it failed without saying why"
            )
            if error.options:
                error = _sound_options(error)
            return self.refuse(StepOutcome(status="failed", error=error, effects=result.effects), args)
        return self._data(result.data, rules, args, result, plain=plain)

    def _data(
        self, data: object, rules: Rules, args: Mapping[str, Any], beside: Result | None, *, plain: bool = False
    ) -> StepOutcome:
        value: Any
        try:
            once = None if plain else copied(data)
            if once is not None:
                value, raw = once
            else:
                value = data if plain else settle(data)
                raw = canonical(value)
            if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH:
                require_depth(value)
        except (NotJSON, JSONFault) as fault:
            return self._bad(failed("data", fault.code, fault.message, where=fault.where), beside, args)
        if len(raw) > rules.output_bytes:
            message = f"the result has {len(raw)} bytes; at most {rules.output_bytes} are allowed"
            return self._bad(
                failed("oversize", "too-large", message, hint="ask for less: a limit, or fewer fields"), beside, args
            )
        validator = rules.validator
        if validator is not None and not validator.is_valid(value):
            where, message, _expected = validator(value)[0]
            return self._bad(failed("internal", "result-schema", message, where=where), beside, args)
        sealed = 0
        if len(raw) >= SHORTEST:
            sealer = self._sealer or self._get_sealer()
            if sealer.may_hold(raw):
                value, sealed = sealer.seal(value, raw, args)
                raw = canonical(value)
        if beside is None:
            return StepOutcome(
                status="finished", data=value, digest=digest_bytes(raw), sources=rules.sources, sealed=sealed
            )
        outcome = StepOutcome(
            status="finished",
            data=value,
            digest=digest_bytes(raw),
            effects=beside.effects,
            counters=beside.counters,
            truncated=beside.truncated,
            warnings=beside.warnings,
            sources=rules.sources,
            sealed=sealed,
        )
        return self._seal_beside(outcome, args) if beside.effects or beside.warnings else outcome

    def _bad(self, outcome: StepOutcome, beside: Result | None, args: Mapping[str, Any]) -> StepOutcome:
        """Bad data; effects that were reported with it were done all the same."""
        if beside is not None and beside.effects:
            outcome = msgspec.structs.replace(outcome, effects=beside.effects)
        return self.refuse(outcome, args)

    # --- what is told beside the data ----------------------------------------------------------------------------

    def _seal_beside(self, outcome: StepOutcome, args: Mapping[str, Any]) -> StepOutcome:
        beside = (outcome.effects, outcome.warnings, outcome.error)
        raw = msgspec.json.encode(beside)
        if len(raw) > _BESIDE_BYTES:
            return _cut_beside(outcome)
        sealer = self._get_sealer()
        if not sealer.may_hold(raw):
            return outcome
        told, count = sealer.seal(msgspec.json.decode(raw), raw, args)
        effects, warnings, error = msgspec.convert(told, tuple[tuple[Effect, ...], tuple[str, ...], Failure | None])
        return msgspec.structs.replace(
            outcome, effects=effects, warnings=warnings, error=error, sealed=outcome.sealed + count
        )

    def _get_sealer(self) -> Sealer:
        if self._sealer is None:
            self._sealer = self._make_sealer()
        return self._sealer


def unsealable(fault: VaultFault | OSError, effects: tuple[Effect, ...] = ()) -> StepOutcome:
    """A secret could be neither kept nor opened: nothing of the result is told, but that effects were made."""
    told = tuple(Effect(cls=effect.cls, target="") for effect in effects)
    if isinstance(fault, VaultFault):
        return failed("operational", fault.code, fault.message, where=str(fault.path), hint=fault.hint, effects=told)
    return failed("operational", "io-error", f"the vault: {fault.strerror}", effects=told)


def _sound_options(error: Failure) -> Failure:
    """The failure without its options, where one of them is no strict JSON: nothing else of it is lost."""
    try:
        canonical(msgspec.to_builtins(error.options))
    except JSONFault:
        return msgspec.structs.replace(error, options=())
    return error


def _typed(result: Result) -> Result:
    """The same result, its fields of the declared types: Python did not check them when it was made."""
    if not (result.effects or result.counters or result.warnings or result.error):
        return result
    told = msgspec.to_builtins(msgspec.structs.replace(result, data=None))
    settle(told)
    return msgspec.structs.replace(msgspec.convert(told, Result), data=result.data)


def _cut_beside(outcome: StepOutcome) -> StepOutcome:
    """Too much was told beside the data: a typed failure; effects are kept as far as their targets fit."""
    effects = tuple(Effect(cls=effect.cls, target=effect.target[:500]) for effect in outcome.effects[:100])
    message = f"more than {_BESIDE_BYTES} bytes of warnings and effects"
    return failed("oversize", "too-large", message, effects=effects)
