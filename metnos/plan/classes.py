"""What kind of error a failure is: whose move it is next. The whole table, code by code.

Law: the classes are closed, and every code of `CODES` stands in exactly one of them (a test holds the sets equal).

| class | what helps |
|---|---|
| `wrong-tool` | another tool, or other steps |
| `wrong-arguments` | the same tool with other arguments |
| `missing-input` | an answer: a value, a choice or a consent that only a person or the host can give |
| `out-of-scope` | nothing here: it may not be done, or nobody here can do it |
| `operational` | the world outside: service, disk, process, installation. Never hidden by trying another executor |

    >>> class_of("not-found"), class_of("tool-error", "timeout"), class_of("custom", "conflict")
    ('wrong-arguments', 'operational', 'missing-input')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

FaultClass = Literal["wrong-tool", "wrong-arguments", "missing-input", "out-of-scope", "operational"]
FAULT_CLASSES: Final[tuple[FaultClass, ...]] = get_args(FaultClass)

_CODES: Final[dict[FaultClass, str]] = {
    "wrong-tool": """
        unknown-tool no-collection nothing-consumed nothing-produced kind-mismatch action-missing clause-order
        provider-ignored plan-repeated plan-unsure
    """,
    "wrong-arguments": """
        too-large too-deep not-utf8 json-syntax duplicate-key not-a-number integer-range lone-surrogate not-json
        wrong-type missing-field unknown-field bad-value bad-name reserved-name duplicate-id terminal-missing
        terminal-not-last terminal-twice too-many-steps too-many-items unknown-filler unused-filler
        reference-not-allowed reference-syntax line-syntax line-number several-blocks outside-notation value-missing index-range
        value-type not-scalar null-in-text step-absent unknown-runtime-key unknown-argument type-mismatch
        invalid-value literal-too-large reference-unknown-step reference-forward fallback-needed fallback-mismatch
        may-be-skipped text-not-scalar item-outside for-each-not-list for-each-nested turn-missing turn-exists
        turn-closed turn-open turn-id collection-missing turnlog-malformed contracts-malformed contracts-differ import-form import-form-unknown import-source import-target import-empty export-form export-target label-invalid case-invalid fork-impossible
        record-unencodable record-order step-not-asked key-exists key-missing
        not-found not-a-folder is-a-folder bad-path name-too-long same-file not-empty bad-time bad-pattern
        unknown-encoding not-text not-encodable import-name import-unknown import-fault value-misfit
        unreadable-plan usage request-too-long unknown-command command-misused bad-settings bad-models
        bad-run bad-prices bad-script bad-baseline rows-malformed rows-of-another-run column-open field-taken too-many bad-pointer
    """,
    "missing-input": """
        missing-argument missing-one-of slot-outside-template input-missing missing-undecided approval-used
        approval-not-given dialog-answered exists approval-expired approval-differs dialog-expired nothing-asked
        answer-failed answer-misfit too-vague plan-declined
    """,
    "out-of-scope": """
        sealed-literal continue-with-effect unrequested-effect negated-effect ungrounded-target
        unrequested-overwrite clause-place destination-ignored nothing-to-undo no-feedback no-entry secret-not-granted withheld
        outside-roots
        symlink not-a-file not-a-file-system in-trash address-refused step-budget plan-budget policy-denied
        approval-stranger no-model out-of-scope
    """,
    "operational": """
        changed unknown-zone labels-damaged guard-failed record-store record-schema record-busy record-write record-conflict anchor-write
        anchor-read key-unusable cache-store cache-folder cache-key learn-failed record-forked writer-unusable stale-fence turn-busy rows-busy operation-done
        worker-lost seal-busy seal-unreadable seal-differs record-missing record-altered record-malformed log-version log-missing log-cut-off log-behind-anchor anchor-missing
        anchor-mismatch anchor-malformed head-missing head-mismatch head-key head-signature blob-missing
        blob-altered ledger-mismatch manifest-syntax manifest-oversize manifest-missing manifest-unknown-field
        manifest-missing-field manifest-field manifest-name manifest-args manifest-argument manifest-effects
        manifest-result-field manifest-kind manifest-family manifest-description manifest-code-file
        schema-malformed schema-oversize schema-unknown-keyword schema-ref schema-ref-cycle schema-ref-bomb
        schema-pattern code-syntax import-forbidden catalog-missing trust-malformed trust-expired
        envelope-malformed signature-invalid key-unknown key-not-allowed key-expired key-revoked threshold-not-met
        manifest-expired manifest-revoked version-downgraded seen-damaged name-mismatch sdk-version file-unsigned
        key-exposed key-malformed file-missing file-length file-digest distribution-missing distribution-version
        platform-unsupported step-timeout memory-limit worker-crashed worker-garbage effect-interrupted no-worker
        no-runner executor-raised executor-broken result-version result-malformed result-schema vault-key
        vault-broken no-permission read-only changed-since no-space io-error import-broken extra-missing
        variable-missing foreign-drift foreign-unreachable foreign-lost foreign-protocol not-recorded tool-error resume-refused
        effect-unknown template-invalid proposer-failed bug
        model-missing model-unreachable model-refused model-limited model-stalled model-slow model-deadline model-cancelled
        model-length model-reply model-context model-unrecorded model-download model-digest
    """,
}
WILLED: Final = frozenset({"approval-refused", "cancelled"})
"""A person decided so: no error."""
BY_CODE: Final[dict[str, FaultClass]] = {code: cls for cls, codes in _CODES.items() for code in codes.split()}

BY_FAILURE: Final[dict[str, FaultClass | Literal[""]]] = {
    "arguments": "wrong-arguments",
    "missing": "wrong-arguments",
    "data": "wrong-arguments",
    "denied": "out-of-scope",
    "conflict": "missing-input",
    "oversize": "wrong-arguments",
    "timeout": "operational",
    "memory": "operational",
    "crashed": "operational",
    "cancelled": "",
    "unavailable": "operational",
    "operational": "operational",
    "internal": "operational",
}
"""Class of a step's failure (`sdk.ErrorClass`) → the class it has where its code is not one of ours, or says nothing."""
VAGUE: Final = frozenset({"tool-error"})
"""Codes that only say that it failed: the class of the failure says more."""

BY_OUTCOME: Final[dict[str, FaultClass | Literal[""]]] = {
    "success": "",
    "cancelled": "",
    "effect_unknown": "operational",
    "budget_hit": "out-of-scope",
    "policy_denied": "out-of-scope",
    "timeout_steps": "out-of-scope",
    "tool_hallucination": "wrong-tool",
}
"""Outcomes that say it by themselves; for the others it is the code's."""


def class_of(code: str, failure: str = "") -> FaultClass | Literal[""]:
    """The class of a failure; empty for what a person willed.

    Args:
        code: Stable code: of `CODES`, or an executor's own.
        failure: Class of the step's failure, where it is one; an operational one is operational under any code.
    """
    by_failure: FaultClass | Literal[""] = BY_FAILURE.get(failure, "operational")
    if failure and (by_failure == "operational" or code in VAGUE):
        return by_failure
    if code in WILLED:
        return ""
    found: FaultClass | None = BY_CODE.get(code)
    return by_failure if found is None else found


def class_of_turn(outcome: str, code: str, errors: Mapping[str, str]) -> FaultClass | Literal[""]:
    """The class of what kept a turn from success; empty while it is open, and where it succeeded or a person stopped it.

    Args:
        outcome: How it ended; empty: it has not.
        code: Its code.
        errors: Code → class of the failures of its steps.
    """
    if not outcome:
        return ""
    return BY_OUTCOME[outcome] if outcome in BY_OUTCOME else class_of(code, errors.get(code, ""))
