"""`RUN.toml`, form `metnos.run/1`: which turns, with which parts, measured and compared how, within which budget.

    form = "metnos.run/1"
    [turns]
    path = "turns.jsonl"
    [parts.guards]
    off = ["grounding"]

Law: read strictly; an unknown key is an error with its place. Paths are relative to the file. A part that is not named is
as it was recorded (proposals, look-ups) or as it is installed (rules, catalog); so an empty `[parts]` is a replay that
measures. The digest of a run is over what the file says and the bytes of every file that it names.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args, get_origin

import msgspec

from metnos import plainfile
from metnos.checks.guards.run import CHECKERS, REWRITERS
from metnos.contracts.model import Origin
from metnos.evaluate.measures.intervals import LEVEL, ROUNDS
from metnos.evaluate.measures.measured import MEASURES
from metnos.evaluate.measures.result import RegressionKind
from metnos.evaluate.running.lookups import Mode
from metnos.plan.jsondata import MAX_INTEGER, digest, digest_bytes
from metnos.policy.table import Answer
from metnos.sdk import EffectClass
from metnos.turn.facts import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FORM: Final = "metnos.run/1"
MOST_BYTES: Final = 64 * 1024
MOST_NAMED: Final = 256 * 1024 * 1024
"""Of a file that a run names."""
GUARDS: Final = tuple(sorted(one.name for one in (*REWRITERS, *CHECKERS)))
HINT: Final = "`metnos schema run` prints what may stand there"


class _Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Turns(_Strict, frozen=True):
    """`[turns]`: which."""

    path: str
    """A METNOS_HOME, a JSONL file, a folder of them, sealed Parquet; with `import`, a data set."""
    import_: str = msgspec.field(default="", name="import")
    """Form of a data set, such as `tau`."""
    request: str = ""
    """Only turns whose request contains this, in any case of letters."""
    outcome: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    """Of the plan: `template`, `cache`, `model`, …"""
    tool: tuple[str, ...] = ()
    """Turns that called one of these."""
    group: tuple[str, ...] = ()
    label: dict[str, str | int | float | bool] = {}
    """Only turns that have these labels (`metnos log label`), with these values."""
    limit: int | None = None
    """The first so many."""
    sample: int | None = None
    """So many, drawn with `seed`: the same whatever order they lie in."""
    seed: int = 0


class Guards(_Strict, frozen=True):
    """`[parts.guards]`."""

    off: tuple[str, ...] = ()
    """Names of rewriters and checkers."""


class Proposer(_Strict, frozen=True):
    """`[parts.proposer]`."""

    kind: Literal["recorded", "scripted", "model", "none"] = "recorded"
    file: str = ""
    """Of a script."""
    model: str = ""
    """Name of a model of the home; empty: by role."""
    home: str = ""
    """METNOS_HOME with its `models.toml`; empty: the one of the command."""
    candidates: int | None = None
    """The most tools that routing hands to the model."""
    seconds: float = 300.0
    """That one call may take."""


class Cache(_Strict, frozen=True):
    """`[parts.cache]`."""

    mode: Mode = "recorded"
    days: int = 180
    share: bool = False
    near_error: float = 0.0


class Policy(_Strict, frozen=True):
    """`[parts.policy]`: effect class → origin → answer; what is not named is as installed."""

    table: dict[EffectClass, dict[Origin, Answer]] = {}


class Parts(_Strict, frozen=True):
    """`[parts]`: what is swapped."""

    catalog: str = ""
    """Folder of a signed catalog, or a `contracts.json`."""
    lexicon: tuple[str, ...] = ()
    """Lexicon files, added to the shipped words."""
    guards: Guards = Guards()
    policy: Policy = Policy()
    proposer: Proposer = Proposer()
    cache: Cache = Cache()


class Measure(_Strict, frozen=True):
    """`[measure]`."""

    pass_k: tuple[int, ...] = (1, 2)
    prices: str = ""
    """A file of prices that go before the shipped ones."""


class Early(_Strict, frozen=True):
    """`[budget.early]`: stop when it is clear enough."""

    after: int = 100
    """Turns, at least."""
    width: float = 0.0
    """Once the interval of the share of successes is no wider; 0: never."""
    failures: int = 0
    """After so many turns that fail and did not before; 0: never."""


class Budget(_Strict, frozen=True):
    """`[budget]`: 0 is no bound."""

    seconds: float = 0.0
    tokens: int = 0
    cost: float = 0.0
    """In the currency of the prices."""
    early: Early = Early()


class Compare(_Strict, frozen=True):
    """`[compare]`."""

    baseline: str = ""
    """Result of another run of these turns."""
    level: float = LEVEL
    seed: int = 0
    rounds: int = ROUNDS
    ignore: tuple[str, ...] = ()
    """Kinds of regressions that are told and do not count."""
    tolerance: dict[str, float] = {}
    """Measure → by how much it may be worse."""


class Report(_Strict, frozen=True):
    """`[report]`."""

    out: str = ""
    """Where the result goes, `NAME.json`; the rows go beside, `NAME.rows.jsonl`."""
    page: str = ""
    """Where a page of HTML goes; empty: none is written."""


class RunFile(_Strict, frozen=True):
    """The whole file."""

    form: Literal["metnos.run/1"]
    turns: Turns
    name: str = ""
    parts: Parts = Parts()
    measure: Measure = Measure()
    budget: Budget = Budget()
    compare: Compare = Compare()
    report: Report = Report()


class RunFault(Exception):
    """A run that cannot be begun.

    Attributes:
        code: `bad-run`.
        where: File and key.
        message: What is wrong there.
        hint: What may stand there.
    """

    code = "bad-run"

    def __init__(self, where: str, message: str, hint: str = HINT) -> None:
        super().__init__(f"{where}: {message}")
        self.where, self.message, self.hint = where, message, hint


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A run file, read, and the folder that its paths start from."""

    file: RunFile
    folder: Path
    name: str

    def path(self, written: str) -> Path:
        """A path of the file.

        Raises:
            RunFault: It can be no path.
        """
        if "\0" in written:
            raise RunFault(f"{self.name}: {written!r}", "a path holds no NUL", "give the path of a file or folder")
        return (self.folder / Path(written).expanduser()).resolve()

    def digest(self) -> str:
        """Over the file and what it names, but not over how long it may take, what it is compared with, where it goes.

        Nor over where the turns lie: each row names the turn that it is of, and which record of it.

        Raises:
            RunFault: A file that it names cannot be read.
        """
        told: Any = msgspec.to_builtins(self.file)
        for part in ("budget", "compare", "report", "name"):
            told.pop(part, None)
        told["turns"].pop("path", None)
        return digest(["metnos.run/1", told, [list(one) for one in self._named()]])

    def _named(self) -> list[tuple[str, str]]:
        parts = self.file.parts
        names = [*parts.lexicon, parts.proposer.file, self.file.measure.prices]
        found = [(name, self._bytes(name)) for name in names if name]
        if parts.catalog and self.path(parts.catalog).is_file():
            found.append((parts.catalog, self._bytes(parts.catalog)))
        return found

    def _bytes(self, name: str) -> str:
        try:
            return digest_bytes(plainfile.read(self.path(name), MOST_NAMED))
        except OSError as fault:
            raise RunFault(
                f"{self.name}: {name}", fault.strerror or str(fault), "give a file that can be read"
            ) from fault


def read_run(path: Path) -> Run:
    """A run from its file.

    Raises:
        RunFault: It cannot be read, or does not hold.
    """
    try:
        data = plainfile.read(path, MOST_BYTES)
    except OSError as fault:
        raise RunFault(str(path), fault.strerror or str(fault), "give the path of a run file") from fault
    return run_from(data, path)


def run_from(data: bytes, path: Path) -> Run:
    """The same of what stands in the file.

    Raises:
        RunFault: It does not hold.
    """
    try:
        body = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as fault:
        raise RunFault(path.name, str(fault), "TOML 1.0 in UTF-8") from fault
    try:
        file = msgspec.convert(body, RunFile)
    except msgspec.ValidationError as fault:
        raise _told(path.name, str(fault)) from fault
    _require(path.name, file)
    return Run(file=file, folder=path.resolve().parent, name=path.name)


def run_of(turns: Turns, name: str = "", folder: Path | None = None) -> Run:
    """A run without a file: these turns, nothing swapped."""
    return Run(file=RunFile(form=FORM, turns=turns), folder=folder or Path.cwd(), name=name or turns.path)


def run_schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of a run file, as TOML reads it."""
    schema = msgspec.json.schema(RunFile, ref_template="#/$defs/{name}")
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "metnos.run/1"}
    return msgspec.json.decode(msgspec.json.encode({**head, **schema}))  # defaults that are tuples are lists then


_PLACE: Final = re.compile(r" - at (?P<key>`key` in )?`\$?\.?(?P<at>[^`]*)`$")
_UNKNOWN: Final = re.compile(r"unknown field `(?P<name>[^`]+)`")
_NO_WORD: Final = re.compile(r"^Invalid enum value '(?P<name>.*)'$", re.DOTALL)
_STEP: Final = re.compile(r"\[[^\]]*\]|[^.\[\]]+")


def _told(name: str, said: str) -> RunFault:
    """A fault of msgspec's in our own words: file, key, and the nearest key or word that there is."""
    place = _PLACE.search(said)
    at = place["at"] if place else ""
    message = _PLACE.sub("", said)
    unknown, no_word = _UNKNOWN.search(said), _NO_WORD.search(message)
    if unknown is not None:
        where = ".".join(filter(None, (at, unknown["name"])))
        there = [field.encode_name for field in msgspec.structs.fields(_kind(at))]
        return RunFault(f"{name}: {where}", "no such key", _meant(unknown["name"], there))
    where = f"{name}: {at}" if at else name
    if no_word is None:
        return RunFault(where, message)
    words = get_args(_kind(at))
    if place and place["key"]:  # of a table, whose keys are such words
        words = get_args(words[0])
    return RunFault(where, f"nothing is called {no_word['name']!r}", _meant(no_word["name"], words))


def _kind(at: str) -> Any:
    """The type of what stands at a place of the file."""
    kind: Any = RunFile
    for step in _STEP.findall(at):
        if step.startswith("["):
            kind = get_args(kind)[1 if get_origin(kind) is dict else 0]
        else:
            kind = next(field.type for field in msgspec.structs.fields(kind) if field.encode_name == step)
    return kind


def _meant(said: str, there: Iterable[str]) -> str:
    """The nearest that there is, if one is near, and all of them."""
    words = list(there)
    near = difflib.get_close_matches(said, words, n=1)
    return (f"is `{near[0]}` meant? " if near else "") + f"there are: {', '.join(words)}"


def _require(name: str, file: RunFile) -> None:
    """What no type can say."""
    for guard in file.parts.guards.off:
        if guard not in GUARDS:
            raise RunFault(f"{name}: parts.guards.off", f"no guard is called {guard!r}", _meant(guard, GUARDS))
    proposer = file.parts.proposer
    if (proposer.kind == "scripted") != bool(proposer.file):
        raise RunFault(f"{name}: parts.proposer.file", "a script is needed for `scripted`, and for nothing else")
    for key, held, there in (
        ("turns.outcome", file.turns.outcome, (*OUTCOMES, "suspended")),
        ("compare.ignore", file.compare.ignore, get_args(RegressionKind)),
        ("compare.tolerance", file.compare.tolerance, tuple(MEASURES)),
    ):
        for one in held:
            if one not in there:
                raise RunFault(f"{name}: {key}", f"nothing is called {one!r}", _meant(one, there))
    for key, number, holds, expected in _bounds(file):
        if number is not None and not holds:
            raise RunFault(f"{name}: {key}", f"{number} is out of bounds", expected)


def _bounds(file: RunFile) -> Iterator[tuple[str, float | None, bool, str]]:
    """Key, number, whether it is one that can be meant (no comparison holds for NaN), what can be."""
    budget, compare, cache, proposer = file.budget, file.compare, file.parts.cache, file.parts.proposer
    for k in file.measure.pass_k:
        yield "measure.pass_k", k, k >= 1, "k is at least 1"
    yield "compare.level", compare.level, 0 < compare.level < 1, "between 0 and 1, as 0.95"
    yield "compare.rounds", compare.rounds, compare.rounds >= 1, "at least 1"
    for measure, number in compare.tolerance.items():
        yield f"compare.tolerance.{measure}", number, number >= 0, "0 or more"
    yield "parts.cache.near_error", cache.near_error, 0 <= cache.near_error <= 0.5, "0 to 0.5"
    yield "parts.cache.days", cache.days, cache.days >= 0, "0 or more"
    yield "parts.proposer.seconds", proposer.seconds, proposer.seconds > 0, "more than 0"
    for key, number in (
        ("turns.limit", file.turns.limit),
        ("turns.sample", file.turns.sample),
        ("parts.proposer.candidates", proposer.candidates),
    ):
        yield key, number, number is None or 1 <= number <= MAX_INTEGER, "at least 1, at most 2^53 - 1"
    for key, number in (
        ("budget.seconds", budget.seconds),
        ("budget.tokens", budget.tokens),
        ("budget.cost", budget.cost),
        ("budget.early.after", budget.early.after),
        ("budget.early.width", budget.early.width),
        ("budget.early.failures", budget.early.failures),
    ):
        yield key, number, number >= 0, "0 or more; 0 is no bound"
