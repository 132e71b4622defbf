"""The parts that a run is made of, opened: catalog, rules, templates, proposer. What is not swapped is what is installed.

Law: contracts and templates only, never their code: a catalog is loaded as for an engine, signatures and all, and nothing
of it is run. Versions seen are not remembered, because a run may be about an older catalog. Which contracts a collection
was recorded under stands beside it (`contracts.json`), else it is this installation's catalog.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from metnos.drivers.rules import make_rules
from metnos.evaluate.drifting.today import Today
from metnos.evaluate.running.driving import AsRecorded
from metnos.evaluate.running.lookups import Nothing, Swapped
from metnos.evaluate.running.proposers import Live, Nobody, Scripted, read_script
from metnos.evaluate.running.runfile import RunFault
from metnos.plan.jsondata import digest_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from metnos.cache.templates.library import TemplateLibrary
    from metnos.checks.model import CheckContext, Checked, Guarded
    from metnos.contracts.catalog import Catalog
    from metnos.contracts.model import Contract
    from metnos.evaluate.running.driving import LookUp, Proposing
    from metnos.evaluate.running.runfile import Policy, Run
    from metnos.policy.model import Question, Verdict
    from metnos.request.lexicon import Lexicon
    from metnos.settings import Settings
    from metnos.turn.rules import Rules


class RunParts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a turn of the run is driven with."""

    base: Rules
    """What is installed, over the contracts that the turns were recorded under."""
    rules: Rules
    """Of the run."""
    catalog: Catalog
    known: Any
    """A `LookUp`."""
    proposing: Any
    """A `Proposing`."""
    today: Today | None
    """What turns are held against where the catalog was swapped."""
    told: dict[str, str]
    """What was swapped, in words."""
    one_process: bool
    """Whether the turns depend on each other."""


def open_parts(run: Run, settings: Settings, beside: Sequence[Contract] | None) -> RunParts:
    """The parts of a run.

    Args:
        run: What is wanted.
        settings: Of this installation: its catalog and home.
        beside: Contracts that lie beside the turns; None: none do.

    Raises:
        RunFault: A part cannot be had.
    """
    swapped, told = run.file.parts, dict[str, str]()
    recorded = _catalog(settings.catalog, beside)
    base = _rules(recorded, _lexicons(run, [str(one) for one in settings.lexicon]))
    catalog, today = recorded, None
    if swapped.catalog:
        catalog = _swapped_catalog(run)
        told["catalog"] = f"{swapped.catalog} ({len(catalog.names())} tools)"
    lexicons = _lexicons(run, swapped.lexicon or [str(one) for one in settings.lexicon])
    rules = base if catalog is recorded and not swapped.lexicon else _rules(catalog, lexicons)
    if swapped.catalog:
        before = {one.reference: one for one in recorded.contracts().values()}
        today = Today(catalog=catalog, rules=rules, before=before)
    if swapped.lexicon:
        told["lexicon"] = ", ".join(swapped.lexicon)
    if swapped.guards.off:
        rules = without_guards(rules, catalog, swapped.guards.off)
        told["guards"] = f"without {', '.join(swapped.guards.off)}"
    if swapped.policy.table:
        rules = with_policy(rules, swapped.policy)
        told["policy"] = ", ".join(_rows(swapped.policy))
    known = _look_up(run, settings, catalog, rules, lexicons, told)
    proposing = _proposing(run, settings, catalog, told)
    one_process = swapped.cache.mode == "learn" or swapped.proposer.kind == "model"
    return RunParts(
        base=base,
        rules=rules,
        catalog=catalog,
        known=known,
        proposing=proposing,
        today=today,
        told=told,
        one_process=one_process,
    )


# --- catalog and words ------------------------------------------------------------------------------------------------


def _catalog(folder: Path, beside: Sequence[Contract] | None) -> Catalog:
    from metnos.contracts.catalog import Catalog
    from metnos.contracts.load import load_catalog

    return load_catalog(folder, home=None, remember=False) if beside is None else Catalog().with_contracts(beside)


def _swapped_catalog(run: Run) -> Catalog:
    from metnos.contracts.catalog import Catalog
    from metnos.evaluate.collections.contracts import decode_contracts
    from metnos.record.faults import RecordFault

    written = run.file.parts.catalog
    path = run.path(written)
    where = f"{run.name}: parts.catalog"
    if path.is_file():
        try:
            return Catalog().with_contracts(decode_contracts(path.read_bytes(), written))
        except RecordFault as fault:
            raise RunFault(where, fault.message) from fault
    catalog = _catalog(path, None)
    if not catalog.names():
        why = catalog.refused[0].diagnostic.found if catalog.refused else "it is empty"
        raise RunFault(
            where, f"no tool is admitted from {written}: {why}", "a folder with trust.json, or contracts.json"
        )
    return catalog


def _lexicons(run: Run, written: Sequence[str]) -> tuple[Lexicon, ...] | None:
    if not written:
        return None
    from metnos.request.lexicon import LexiconFault, lexicons_with

    try:
        return lexicons_with([run.path(one) for one in written])
    except LexiconFault as fault:
        raise RunFault(f"{run.name}: parts.lexicon", str(fault), "files that add words to the shipped ones") from fault
    except OSError as fault:
        raise RunFault(f"{run.name}: parts.lexicon", f"{fault.filename}: {fault.strerror}") from fault


# --- rules ------------------------------------------------------------------------------------------------------------


def _rules(catalog: Catalog, lexicons: Sequence[Lexicon] | None) -> Rules:
    """The shipped rules; a request that was read once (for the record, for the run, for the next trial) is not read again."""
    rules = make_rules(catalog, lexicons)
    return msgspec.structs.replace(rules, normalise=lru_cache(maxsize=4096)(rules.normalise))


def without_guards(rules: Rules, catalog: Catalog, off: Sequence[str]) -> Rules:
    """The rules without some guards; another digest, because they are other rules."""
    from metnos.checks.guards.run import CHECKERS, REWRITERS, guard
    from metnos.checks.validator import Validator

    validator = Validator(catalog)
    rewriters = tuple(one for one in REWRITERS if one.name not in off)
    checkers = tuple(one for one in CHECKERS if one.name not in off)

    def guarded(checked: Checked, context: CheckContext) -> Guarded:
        return guard(checked, context, validator, rewriters=rewriters, checkers=checkers)

    return msgspec.structs.replace(rules, guard=guarded, digest=_other(rules.digest, "guards", *sorted(off)))


def with_policy(rules: Rules, policy: Policy) -> Rules:
    """The rules with another table of policy."""
    from metnos.policy.decide import Table, decider
    from metnos.policy.table import TABLE

    table: Table = {effect: {**row, **policy.table.get(effect, {})} for effect, row in TABLE.items()}
    decide: Callable[[Question], Verdict] = decider(table)
    sha = _other(rules.policy_digest, "policy", *_rows(policy))
    return msgspec.structs.replace(rules, policy=decide, policy_digest=sha)


def _rows(policy: Policy) -> list[str]:
    return sorted(f"{effect}.{origin} = {said}" for effect, row in policy.table.items() for origin, said in row.items())


def _other(before: str, *what: str) -> str:
    return digest_bytes("\n".join((before, *what)).encode())


# --- who is asked -----------------------------------------------------------------------------------------------------


def _look_up(
    run: Run,
    settings: Settings,
    catalog: Catalog,
    rules: Rules,
    lexicons: Sequence[Lexicon] | None,
    told: dict[str, str],
) -> LookUp:
    from metnos.request.lexicon import added_digest

    cache = run.file.parts.cache
    if cache.mode != "recorded":
        told["cache"] = cache.mode
    if cache.mode == "recorded":
        return AsRecorded()
    if cache.mode == "off":
        return Nothing()
    return Swapped(
        catalog,
        rules,
        _library(run, settings),
        mode=cache.mode,
        lexicon=added_digest(lexicons or ()),
        days=cache.days,
        share=cache.share,
        near_error=cache.near_error,
    )


def _library(run: Run, settings: Settings) -> TemplateLibrary:
    """Signed templates: of the swapped catalog's folder, else of this installation's."""
    from metnos.cache.templates.library import TemplateLibrary
    from metnos.contracts.load import read_plans

    written = run.file.parts.catalog
    folder = run.path(written) if written and run.path(written).is_dir() else settings.catalog
    return TemplateLibrary.from_signed(read_plans(folder, home=None, remember=False).verified)


def _proposing(run: Run, settings: Settings, catalog: Catalog, told: dict[str, str]) -> Proposing:
    proposer = run.file.parts.proposer
    if proposer.kind != "recorded":
        told["proposer"] = " ".join(filter(None, (proposer.kind, proposer.model, proposer.file)))
    match proposer.kind:
        case "recorded":
            return AsRecorded()
        case "none":
            return Nobody()
        case "scripted":
            return Scripted(read_script(run.path(proposer.file)), catalog)
        case "model":
            return _model(run, settings, catalog)


def _model(run: Run, settings: Settings, catalog: Catalog) -> Proposing:
    """A planner of this house on a model of a home; opened by the first turn that asks."""
    from functools import partial

    from metnos.drivers.own import open_models, open_planner
    from metnos.propose.candidates import Candidates
    from metnos.propose.models.ports import Stop
    from metnos.settings import SettingsFault

    proposer = run.file.parts.proposer
    if proposer.home:
        settings = msgspec.structs.replace(settings, home=run.path(proposer.home))
    settings = msgspec.structs.replace(settings, planning_s=proposer.seconds)
    try:
        models = open_models(settings, proposer.model)
    except SettingsFault as fault:
        raise RunFault(f"{run.name}: parts.proposer", fault.message, fault.hint) from fault
    router = None
    if proposer.candidates is not None:
        from metnos.propose.routing import Router

        router = partial(Router(catalog), cap=proposer.candidates)
    planner = open_planner(models, catalog, router=router)

    def ask(request: Any, candidates: Any) -> Any:
        return planner(request, candidates, stop=Stop(deadline_s=proposer.seconds))

    return Live(ask, Candidates(one for _, one in sorted(catalog.contracts().items())), catalog)
