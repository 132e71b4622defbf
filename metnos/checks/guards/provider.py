"""Provider named: who says "with ripgrep" or "a telegram message" gets a tool of that provider.

Law: a provider is named by a word of the request outside its values: one that stands behind "with", "via", "using", or
one that the language does not know otherwise. It must be used wherever the plan does what that provider's tools do.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from metnos.checks.guards.model import Checker, Finding, verdict
from metnos.checks.model import Fine
from metnos.checks.providers import families_of, provider_of
from metnos.plan.diagnostics import Diagnostic
from metnos.request.explained import lexicon_of
from metnos.request.tokens import tokenise

if TYPE_CHECKING:
    from metnos.checks.model import CheckContext, Checked, CheckedStep
    from metnos.request.model import Request

_PARTS = re.compile(r"[_.-]+")


def provider_named(checked: Checked, context: CheckContext) -> Finding:
    """Each provider that the request names is used by a step."""
    request = context.request
    if request is None:
        return Fine(guard="provider-named", applicable=False)
    used = {provider_of(step.contract) for step in checked.steps}
    found: list[Diagnostic] = []
    for provider in named_in(request, context.providers):
        if provider in used:
            continue
        instead = _instead(checked, context.providers[provider])
        if instead is not None:
            where = f"/steps/{instead.number - 1}/tool"
            expected = f"a tool of {provider}"
            found.append(
                Diagnostic(code="provider-ignored", where=where, found=instead.contract.name, expected=expected)
            )
    return verdict("provider-named", context, found)


def named_in(request: Request, providers: dict[str, tuple[str, ...]]) -> list[str]:
    """The providers that the request names, in name order."""
    if not providers or not _may_name(request, providers):
        return []
    lexicon = lexicon_of(request)
    tokens = [token for token in tokenise(request.text) if token.kind != "space"]
    keys = ["" if _is_value(request, token.start) else token.key for token in tokens]
    found: list[str] = []
    for provider in providers:
        words = [*_parts(provider)]
        for at in range(len(keys) - len(words) + 1):
            if keys[at : at + len(words)] != words and keys[at] != provider:
                continue
            known = lexicon.words.get(keys[at]) is not None
            if not known or _by_means(keys, at, lexicon.means):
                found.append(provider)
                break
    return found


def _may_name(request: Request, providers: dict[str, tuple[str, ...]]) -> bool:
    """Whether a provider's first word stands anywhere in the request; nearly always none does, and that is all."""
    tokens = getattr(request.explanation, "tokens", None)
    if tokens is None:
        return True
    keys = {token.key for token in tokens}
    return any(provider in keys or _parts(provider)[0] in keys or not _parts(provider)[0] for provider in providers)


@lru_cache(maxsize=1024)
def _parts(provider: str) -> tuple[str, ...]:
    """The words of a provider's name."""
    return tuple(_PARTS.split(provider))


def _by_means(keys: list[str], at: int, means: frozenset[str]) -> bool:
    return at > 0 and keys[at - 1] in means


def _is_value(request: Request, start: int) -> bool:
    return any(slot.start <= start < slot.end for slot in request.slots)


def _instead(checked: Checked, families: tuple[str, ...]) -> CheckedStep | None:
    """The step that does without the provider what its tools do; of a foreign provider, any step might."""
    for step in checked.steps:
        if not families or not set(families).isdisjoint(families_of(step.contract)):
            return step
    return None


PROVIDER_NAMED = Checker(name="provider-named", judge=provider_named, needs_request=True)
