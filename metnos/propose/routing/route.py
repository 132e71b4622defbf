"""The router: from a request and a catalog to the tools that a plan may name.

Law: what is asked for decides before what sounds alike. Each part of a request has a list of its own, in this order:

1. tools of a provider that the request names;
2. the families of the part's intents, where their object is said; then those that its other words point to (cues);
3. what these need to be fed (closure);
4. what its words find in the index; and what that needs;
5. families of intents whose object nobody said.

The lists are merged in turn, so no part starves; what could shape their results follows, and the cap cuts. A tool whose every effect is unasked for is in none
of them. With a weak signal the choice is wider: all that is admitted, if the catalog is small.
"""

from __future__ import annotations

import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from metnos.checks.guards.asked import ANSWERS, GENERAL, SUITING
from metnos.checks.guards.effects import admitted_effects
from metnos.checks.guards.provider import named_in
from metnos.checks.providers import provider_of, providers_of
from metnos.propose.decode.endings import endings_of
from metnos.propose.routing.closure import Closure
from metnos.propose.routing.cues import cue_words, families_of
from metnos.propose.routing.index import Index, best
from metnos.propose.routing.model import (
    DEFAULT_CAP,
    LEXICAL,
    SERVED,
    SMALL_CATALOG,
    STRANGE,
    SURE,
    WIDER,
    Routed,
    RoutedClause,
)
from metnos.propose.routing.parts import parts_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from metnos.contracts.catalog import Catalog, Named
    from metnos.contracts.model import Contract
    from metnos.propose.routing.parts import Part
    from metnos.request.model import Request, RequestIntent
    from metnos.sdk import EffectClass

_ALSO: dict[str, tuple[str, ...]] = {"find": ("find", "list", "get"), GENERAL: (GENERAL, "create", "append")}
"""Verb of an intent → verbs of the families that may be meant, beside those that answer it."""
_WITHIN: dict[str, str] = {"texts": "files", "table": "files"}
"""Object of an intent → what holds it: who writes a text, writes a file."""


class Router:
    """Routes requests over one catalog. The index is made by the first request. Safe between threads."""

    def __init__(self, catalog: Catalog, *, platform: str = sys.platform) -> None:
        """Over the contracts of `catalog` that run on `platform`; the catalog itself is not kept."""
        found = catalog.contracts().values()
        self.contracts: tuple[Contract, ...] = tuple(c for c in found if not c.platforms or platform in c.platforms)
        self.providers = providers_of(self.contracts)

    @cached_property
    def _tables(self) -> _Tables:
        return _Tables(self.contracts)

    def __call__(self, request: Request, *, cap: int = DEFAULT_CAP, without: Container[str] = ()) -> Routed:
        """The tools for `request`.

        Args:
            request: As the lexicon understood it; its language is the one of its words.
            cap: The most names, unless the signal is weak; at least 1.
            without: Names that are out of the question (a tool that failed).
        """
        effects = admitted_effects(request)
        tables = self._tables
        admitted = tables.admitted(effects, without)
        routing = _Routing(request, tables, admitted, effects)
        named = [tables.of_provider(name) for name in named_in(request, self.providers)]
        parts = parts_of(request)
        found = [routing.clause(part, named) for part in parts]
        clauses = tuple([clause for clause, _, _ in found])
        weak = not clauses or any(clause.weak for clause in clauses)
        lists = [numbers for _, numbers, _ in sorted(found, key=lambda one: -one[2])]
        if len(parts) > 1:
            lists.append(routing.by_words({word for part in parts for word in part.words}, cap))
        merged = list(dict.fromkeys(_in_turn(lists)))
        shaping = [number for number in tables.closure.shaping(merged[:cap]) if admitted[number]]
        merged = list(dict.fromkeys((*merged, *shaping)))
        if weak and len(tables.contracts) <= SMALL_CATALOG:
            merged = list(dict.fromkeys((*merged, *_numbers(admitted))))
            most = len(merged)
        else:
            most = cap * WIDER if weak else cap
        names = tables.names
        return Routed(
            names=tuple([names[number] for number in merged[:most]]),
            effects=effects,
            clauses=clauses,
            weak=weak,
            unserved=tuple([clause.text for clause in clauses if not clause.served]),
            plain=(not weak and all(clause.plain for clause in clauses)) or self._reads_table(request, parts, clauses),
        )

    def _reads_table(self, request: Request, parts: Sequence[Part], clauses: Sequence[RoutedClause]) -> bool:
        """Whether a file is named that has a reader of its own, and no more than reading is asked for."""
        formats = {ending for provider in self.providers for ending in (provider, *endings_of(provider))}
        if not any(type_ in formats for part in parts for type_ in part.types):
            return False
        reads = all(intent.effect == "read" for intent in request.intents)
        return reads and all(clause.served for clause in clauses) and not any(part.heads for part in parts)


class _Tables:
    """What a catalog says, by number of contract."""

    def __init__(self, contracts: tuple[Contract, ...]) -> None:
        import numpy as np

        self.contracts = contracts
        self.names = [contract.name for contract in contracts]
        self.index = Index(contracts)
        self.closure = Closure(contracts)
        self._classes: dict[EffectClass, Any] = {}
        self._families: dict[tuple[str, str], list[int]] = {}
        self._provided: dict[str, list[int]] = {}
        self.verbs: set[str] = set()
        self.objects: set[str] = set()
        for number, contract in enumerate(contracts):
            for rule in contract.effects:
                mask = self._classes.setdefault(rule.effect, np.zeros(len(contracts), dtype=np.bool_))
                mask[number] = True
            for family in contract.families:
                self._families.setdefault((family.verb, family.object), []).append(number)
                if family.object:
                    self.verbs.add(family.verb)
                    self.objects.add(family.object)
            self._provided.setdefault(provider_of(contract), []).append(number)

    def admitted(self, effects: Iterable[EffectClass], without: Container[str]) -> Any:
        """Mask of the contracts that can do no more than `effects`."""
        import numpy as np

        mask: Any = np.zeros(len(self.contracts), dtype=np.bool_)
        for effect in effects:
            if effect in self._classes:
                mask |= self._classes[effect]
        if without:
            mask &= np.array([name not in without for name in self.names], dtype=np.bool_)
        return mask

    def in_family(self, family: Named) -> list[int]:
        """Numbers of a family, in order."""
        return self._families.get((family.verb, family.object), [])

    def of_provider(self, provider: str) -> list[int]:
        """Numbers of a provider's tools, in order."""
        return self._provided.get(provider, [])

    def has_effect(self, number: int, effects: Iterable[EffectClass]) -> bool:
        """Whether a contract may have one of the effects."""
        return any(effect in self._classes and self._classes[effect][number] for effect in effects)

    def meant_by(self, intent: RequestIntent, part: Part) -> list[int]:
        """Numbers of the families that an intent of a part may mean."""
        verbs = dict.fromkeys((intent.verb, *_ALSO.get(intent.verb, ()), *sorted(ANSWERS.get(intent.verb, ()))))
        objects = dict.fromkeys((intent.object, _WITHIN.get(intent.object, intent.object)))
        if intent.verb == GENERAL and part.names_files:
            objects["files"] = None  # "save the list of the folders to folders.md"
        return list(
            dict.fromkeys(n for thing in objects for verb in verbs for n in self._families.get((verb, thing), ()))
        )


class _Routing:
    """One request over one catalog."""

    def __init__(self, request: Request, tables: _Tables, admitted: Any, effects: frozenset[EffectClass]) -> None:
        self.request = request
        self.tables = tables
        self.admitted = admitted
        self.effects = effects

    def by_words(self, words: Iterable[str], most: int) -> list[int]:
        """What the words alone find."""
        return best(self.tables.index.scores(words), most, self.admitted)

    def clause(self, part: Part, named: Sequence[list[int]]) -> tuple[RoutedClause, list[int], float]:
        """What one part has, the numbers of its tools, and the best score of its words."""
        tables = self.tables
        scores = tables.index.scores((*part.words, *part.types))
        ranked = best(scores, LEXICAL, self.admitted)
        provided = [n for numbers in named for n in self._by_score(numbers, scores)[:LEXICAL]]
        asked = [n for intent in part.grounded for n in self._by_score(tables.meant_by(intent, part), scores)]
        cued = [
            n for f in families_of(part, self.request.language) for n in self._by_score(tables.in_family(f), scores)
        ]
        first = [*provided, *asked, *cued] if asked or provided else [*ranked[:1], *cued]
        others = [n for intent in part.intents for n in self._by_score(tables.meant_by(intent, part), scores)]
        fed = tables.closure.needed(first, ranked)
        late = tables.closure.needed([*first, *fed, *ranked, *others], ranked)
        order = dict.fromkeys((*first, *fed, *ranked, *others, *late))
        numbers = [n for n in order if self.admitted[n]]
        score = self._share(part)
        served = self._is_served(part, ranked, score)
        clause = RoutedClause(
            text=part.text,
            start=part.start,
            end=part.end,
            names=tuple([tables.names[n] for n in numbers]),
            weak=not served or not (provided or asked or score >= SURE),
            score=round(score, 3),
            served=served,
            plain=served and bool(asked or cued or part.goes_on) and self._is_plain(part),
        )
        return clause, numbers, float(scores[ranked[0]]) if ranked else 0.0

    def _by_score(self, numbers: Iterable[int], scores: Any) -> list[int]:
        return sorted((n for n in numbers if self.admitted[n]), key=lambda n: (-float(scores[n]), n))

    def _share(self, part: Part) -> float:
        """How much of a part is known to tools: its words, the files that it names, the families that it asks for."""
        known = 0.0
        missing = 0.0
        cues = cue_words(part, self.request.language)
        for word in part.words:
            if word in part.general:
                continue
            if word in cues or self.tables.index.known(word, self.admitted):
                known += 1
            elif word in part.unknown:
                missing += 2 if word in part.heads else 1
        known += sum(bool(self._meant(intent, part)) for intent in part.grounded)
        if (part.names_files or part.goes_on) and "files" in self.tables.objects:
            known += 1
        return known / (known + missing) if known + missing else 0.0

    def _is_plain(self, part: Part) -> bool:
        """Whether nothing is said that no tool knows: a word of the lexicon alone ("summary") is such a thing, too."""
        if part.heads or not (part.slots or part.about_files or part.goes_on):
            return False
        known = part.general | cue_words(part, self.request.language) | part.said
        return all(word in known or self.tables.index.known(word, self.admitted) for word in part.words)

    def _meant(self, intent: RequestIntent, part: Part) -> list[int]:
        return [n for n in self.tables.meant_by(intent, part) if self.admitted[n]]

    def _is_served(self, part: Part, ranked: Sequence[int], score: float) -> bool:
        if any(not self._answers(intent, part, ranked) for intent in part.intents):
            return False
        if (
            part.unknown
            and not (part.about_files or part.goes_on)
            and score < SURE
            and self._only_files_would(part, ranked)
        ):
            return False  # "change my PIN": nothing says that a file is meant
        if part.grounded:
            return True
        if part.heads and score < STRANGE:
            return False  # "compress the folder photos": what is to be done is unknown, and most of the rest
        return score >= SERVED or not part.unknown

    def _only_files_would(self, part: Part, ranked: Sequence[int]) -> bool:
        """An effect is asked for on nothing in particular, and what the words find are tools for files."""
        vague = any(intent.effect != "read" and intent not in part.grounded for intent in part.intents)
        return vague and all(_has_family(self.tables.contracts[number]) for number in ranked)

    def _answers(self, intent: RequestIntent, part: Part, ranked: Sequence[int]) -> bool:
        """Whether some tool may be what an intent asks for."""
        tables = self.tables
        if self._meant(intent, part):
            return True
        if intent.effect != "read":
            suiting = SUITING.get(intent.effect, frozenset())
            if any(tables.has_effect(n, suiting) and not _has_family(tables.contracts[n]) for n in ranked):
                return True
            verbs = {intent.verb, *_ALSO.get(intent.verb, ()), *ANSWERS.get(intent.verb, ())}
            return not verbs.isdisjoint(tables.verbs) and intent.object not in part.direct and bool(self.effects)
        if intent not in part.grounded or part.names_files:
            return True
        return bool(ranked) and (intent.object in tables.objects or not _has_family(tables.contracts[ranked[0]]))


def _has_family(contract: Contract) -> bool:
    return any(family.object for family in contract.families)


def _numbers(mask: Any) -> list[int]:
    import numpy as np

    return np.flatnonzero(mask).tolist()


def _in_turn(lists: Sequence[Sequence[int]]) -> Iterable[int]:
    """The first of each list, then the second of each …"""
    for at in range(max(map(len, lists), default=0)):
        for numbers in lists:
            if at < len(numbers):
                yield numbers[at]


_ROUTERS: WeakKeyDictionary[Catalog, Router] = WeakKeyDictionary()
"""One for each catalog that is still there."""


def route(request: Request, catalog: Catalog, *, cap: int = DEFAULT_CAP, without: Container[str] = ()) -> Routed:
    """The tools of `catalog` for `request`; see `Router`. The index is kept as long as the catalog."""
    router = _ROUTERS.get(catalog)
    if router is None:
        router = _ROUTERS[catalog] = Router(catalog)
    return router(request, cap=cap, without=without)
