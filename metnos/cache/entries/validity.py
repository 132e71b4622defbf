"""Whether an entry may be served now: entry and world compared part by part, and the first that differs.

Law: pure. Nothing is compared that could be made part of the key, and nothing is left to the key that a person would
want to hear of. The order is the one of `CHECKS`, from what is certain to what is a matter of time, so one entry has
one reason. What the world says is found once and remembered: a catalog does not change, another one is another `World`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from metnos.cache.model import MissReason
from metnos.contracts.model import Intent
from metnos.contracts.signatures import executor_signature, family_signature
from metnos.plan.jsondata import digest
from metnos.request.understand import understand

if TYPE_CHECKING:
    from metnos.cache.entries.entry import Depends, Entry
    from metnos.cache.model import Asking, Place
    from metnos.contracts.catalog import Catalog
    from metnos.plan.jsondata import JSON
    from metnos.request.model import Request

DAY = 86_400_000_000
TERMINALS = frozenset(("final_answer", "ask", "needs_inputs"))
MAX_AGE = 180 * DAY
"""µs after which an entry that was not learned or confirmed anew is too old."""


class World:
    """What plans are served under. One for one catalog and one set of rules; safe between threads."""

    def __init__(
        self,
        catalog: Catalog,
        *,
        rules: str = "",
        policy: str = "",
        lexicon: str = "",
        normalise: Callable[[str, str | None], Request] = understand,
        unavailable: Callable[[], Collection[str]] | None = None,
        share: bool = False,
        near_error: float = 0.0,
        max_age: int = MAX_AGE,
    ) -> None:
        """Take a look at the world.

        Args:
            catalog: What is admitted.
            rules: Digest of the rules.
            policy: Digest of the policy.
            lexicon: Digest of the owner's lexicon files; empty: none.
            normalise: From what was said to a request, as the rules do it.
            unavailable: Names that are admitted and cannot run now; asked at each use.
            share: Whether owners may be served what belongs to nobody.
            near_error: Share of wrong plans that the operator accepts of near matches; 0: only what is confirmed.
            max_age: µs after which an entry is too old.
        """
        self.catalog = catalog
        self.rules = rules
        self.policy = policy
        self.lexicon = lexicon
        self.normalise = normalise
        self.unavailable = unavailable or frozenset[str]
        self.share = share
        self.near_error = near_error
        self.max_age = max_age
        self._executors: dict[str, str] = {}
        self._families: dict[tuple[tuple[tuple[str, str], ...], frozenset[str]], str] = {}

    def over(self, catalog: Catalog) -> World:
        """The same world with other tools: what it would be."""
        return World(
            catalog,
            rules=self.rules,
            policy=self.policy,
            lexicon=self.lexicon,
            normalise=self.normalise,
            unavailable=self.unavailable,
            share=self.share,
            near_error=self.near_error,
            max_age=self.max_age,
        )

    def executor(self, name: str) -> str:
        """The signature of an executor; empty: there is none."""
        known = self._executors.get(name)
        if known is None:
            contract = self.catalog.get(name)
            known = self._executors[name] = "" if contract is None else executor_signature(contract)
        return known

    def family(self, families: tuple[tuple[str, str], ...], unavailable: Collection[str] = ()) -> str:
        """The signature of all executors in `families`; of the whole catalog if there is none."""
        key = (families, frozenset(unavailable))
        known = self._families.get(key)
        if known is None:
            if families:
                intents = [Intent(verb, thing) for verb, thing in families]
                known = family_signature(self.catalog, intents, unavailable=key[1])
            else:
                missing: list[JSON] = [*sorted(key[1])]
                known = digest(["metnos.whole/1", self.catalog.digest, missing])
            if len(self._families) > 4096:
                self._families.clear()
            self._families[key] = known
        return known


def families_of(request: Request) -> tuple[tuple[str, str], ...]:
    """(verb, object) of the request intents, each once, sorted."""
    return tuple(sorted({(intent.verb, intent.object) for intent in request.intents}))


def tools_of(plan: dict[str, Any]) -> tuple[str, ...]:
    """The names that the steps of a plan call, each once, sorted; terminals aside."""
    return tuple(sorted({step["tool"] for step in plan["steps"]} - TERMINALS))


def place_digest(place: Place) -> str:
    """`sha256:…` of folder, home and roots."""
    roots: list[JSON] = [*sorted(place.roots)]
    return digest(["metnos.place/1", place.folder, place.home, roots])


def first_difference(entry: Entry, world: World, asking: Asking) -> tuple[MissReason, str] | None:
    """The first part that differs, and what is said of it; None: the entry may be served."""
    for check in CHECKS:
        found = check(entry, world, asking)
        if found is not None:
            return found
    return None


Difference = tuple[MissReason, str] | None


def _scope(entry: Entry, world: World, asking: Asking) -> Difference:
    if entry.scope == asking.owner or (world.share and entry.scope == "shared"):
        return None
    return "foreign-scope", ""


def _clock(entry: Entry, _world: World, asking: Asking) -> Difference:
    return ("clock-moved-back", "") if asking.now < entry.admitted_at else None


def _executors(entry: Entry, world: World, _asking: Asking) -> Difference:
    for name, signature in entry.depends.executors.items():
        now = world.executor(name)
        if now != signature:
            return ("executor-changed" if now else "executor-removed"), name
    return None


def _rules(entry: Entry, world: World, _asking: Asking) -> Difference:
    depends: Depends = entry.depends
    if depends.lexicon != world.lexicon:
        return "lexicon-changed", ""  # it is a part of the rules too: the narrower reason first
    if depends.rules != world.rules:
        return "rules-changed", ""
    return ("policy-changed", "") if depends.policy != world.policy else None


def _availability(entry: Entry, world: World, _asking: Asking) -> Difference:
    gone = world.unavailable()
    if gone:
        for name in entry.depends.executors:
            if name in gone:
                return "executor-unavailable", name
    if entry.depends.family != world.family(entry.depends.families, gone):
        return "family-changed", ", ".join(" ".join(family) for family in entry.depends.families)
    return None


def _circumstances(entry: Entry, _world: World, asking: Asking) -> Difference:
    if entry.depends.channel != asking.channel:
        return "channel-differs", entry.depends.channel
    if entry.depends.place and entry.depends.place != place_digest(asking.place):
        return "place-differs", ""
    return None


def _age(entry: Entry, world: World, asking: Asking) -> Difference:
    return ("expired", "") if asking.now - entry.admitted_at > world.max_age else None


CHECKS: tuple[Callable[[Entry, World, Asking], Difference], ...] = (
    _scope,
    _executors,
    _rules,
    _availability,
    _circumstances,
    _clock,
    _age,
)
"""In this order, so that a reason is always the same one."""
