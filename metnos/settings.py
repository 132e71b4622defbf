"""Settings and paths: where Metnos keeps things, what it may read, which language it speaks.

Law: read once, at the edge (`Engine.open`, the command line), then passed on as a value; no other room reads the
environment. A secret is never part of the value: `secret` hands it over by the name of its variable. Order of
precedence: call or command-line option, `METNOS_*` variable, `METNOS_HOME/settings.toml`, built-in default.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from metnos import plainfile
from metnos.text import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SETTINGS_FILE = "settings.toml"
_MOST_BYTES = 16 * 1024
"""Small, because a TOML key of many dotted parts costs its reader the square of their number."""
MOST_TRIES = 10
VARIABLES: dict[str, str] = {
    "METNOS_HOME": "folder of logs, keys, blobs and settings",
    "METNOS_CATALOG": "folder of a signed catalog, instead of the one that was installed",
    "METNOS_ROOTS": "folders that may be read and written beside the current one, separated by `:`",
    "METNOS_LANG": "language of messages and of requests (`en`, `it`); default: the one that explains more",
    "METNOS_LEXICON": "files with the words of your domain, added to the shipped lexicons, separated by `:`",
    "METNOS_ZONE": "time zone, e.g. `Europe/Rome`; default: the machine's",
}
"""Every variable that is read; a test holds the documentation equal."""


class SettingsFault(Exception):
    """The settings file or a variable is wrong; `where` names which, `hint` how to mend it."""

    def __init__(self, where: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = "bad-settings"
        self.where = where
        self.message = message
        self.hint = hint


class AnswerFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[answer]` of the settings file."""

    wording: Literal["plain", "model"] = "plain"


class SettingsFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`METNOS_HOME/settings.toml`."""

    roots: tuple[str, ...] = ()
    language: str | None = None
    zone: str | None = None
    lexicon: tuple[str, ...] = ()
    cache_entries: int = 100_000
    cache_days: int = 180
    cache_share: bool = False
    cache_near_error: float = 0.0
    tries: int = 3
    planning_s: float = 300.0
    planning_idle_s: float | None = None
    answer: AnswerFile = AnswerFile()


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided, all paths absolute."""

    home: Path
    catalog: Path
    folder: Path
    roots: tuple[Path, ...]
    language: str | None
    zone: str
    lexicon: tuple[Path, ...] = ()
    """Lexicon files of the operator; a relative name in the settings file is one below the home."""
    cache_entries: int = 100_000
    """So many learned plans are kept; beyond, those that serve least go."""
    cache_days: int = 180
    """A learned plan that was not confirmed for so long is not served."""
    cache_share: bool = False
    """Whether owners may be served plans in which nothing of any owner is left."""
    cache_near_error: float = 0.0
    """Share of wrong plans that is accepted of near matches (0 to 0.5); 0: only what somebody confirms is served."""
    tries: int = 3
    """How often a step is run in all (1 to 10) that a service or the network has failed, and that may be repeated."""
    planning_s: float = 300.0
    """Seconds that one call of a model may take."""
    planning_idle_s: float | None = None
    """Seconds that may pass in it without a token; None: as the model's `idle_s` says (120 by default)."""
    wording: Literal["plain", "model"] = "plain"
    """`model`: a model of the home puts the facts of an answer into words above them, if the record holds what it says."""


def secret(name: str, variables: Mapping[str, str] | None = None) -> str | None:
    """The value of the variable `name`, read when it is needed and kept by nobody; None if it is not set, or empty."""
    return (os.environ if variables is None else variables).get(name) or None


def default_home() -> Path:
    """The platform's data folder for Metnos."""
    from platformdirs import user_data_path

    return user_data_path("metnos", appauthor=False)


def shipped_catalog() -> Path:
    """The signed catalog beside this package: in the wheel, or in a checkout's build output."""
    package = Path(__file__).resolve().parent
    packed = package / "_catalog"
    return packed if packed.is_dir() else package.parent / "build" / "catalog"


def machine_zone(variables: Mapping[str, str]) -> str:
    """The machine's zone name; `UTC` where none can be told."""
    named = variables.get("TZ", "").lstrip(":")
    if named and not named.startswith("/"):
        return named
    try:
        target = os.path.realpath("/etc/localtime")
    except OSError:
        return "UTC"
    _, found, name = target.partition("zoneinfo/")
    return name if found else "UTC"


def _usable_zone(zone: str, *, asked: bool) -> str:
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError) as fault:
        if not asked:
            return "UTC"
        raise SettingsFault("zone", f"no time zone is called {zone!r}", "use a name such as Europe/Rome") from fault
    return zone


def _read_file(home: Path) -> SettingsFile:
    path = home / SETTINGS_FILE
    try:
        text = plainfile.read(path, _MOST_BYTES)
    except FileNotFoundError:
        return SettingsFile()
    except OSError as fault:
        hint = "it must be a plain file that you can read"
        raise SettingsFault(str(path), fault.strerror or str(fault), hint) from fault
    try:
        return msgspec.convert(tomllib.loads(text.decode()), SettingsFile)
    except (ValueError, RecursionError, msgspec.ValidationError) as fault:
        known = ", ".join(SettingsFile.__struct_fields__)
        raise SettingsFault(str(path), str(fault), f"known settings: {known}") from fault


def load_settings(
    *,
    home: str | Path | None = None,
    folder: str | Path | None = None,
    roots: Iterable[str | Path] | str | Path = (),
    catalog: str | Path | None = None,
    language: str | None = None,
    zone: str | None = None,
    variables: Mapping[str, str] | None = None,
) -> Settings:
    """Decide every setting, once.

    Raises:
        SettingsFault: the settings file does not parse, a zone or language is unknown, or a folder is not there.
    """
    asked_roots = (roots,) if isinstance(roots, str | Path) else tuple(roots)
    for root in asked_roots:
        if not _folder("root", root).is_dir():
            raise SettingsFault("root", f"{root} is no folder", "name a folder that is there")
    env = os.environ if variables is None else variables
    place = _folder("home", home or env.get("METNOS_HOME") or default_home())
    file = _read_file(place)
    here = _folder("folder", folder or Path.cwd())
    asked = zone or env.get("METNOS_ZONE") or file.zone
    extra = (*asked_roots, *filter(None, env.get("METNOS_ROOTS", "").split(os.pathsep)), *file.roots)
    named = [Path(os.path.normpath(_folder("root", root))) for root in extra]
    granted = tuple(dict.fromkeys((Path(os.path.normpath(here)), *named)))
    return Settings(
        home=place,
        catalog=_folder("catalog", catalog or env.get("METNOS_CATALOG") or shipped_catalog()),
        folder=_usable_folder(here),
        roots=tuple(root for root in granted if root in named or _grantable(root)),
        language=_usable_language(language or env.get("METNOS_LANG") or file.language),
        zone=_usable_zone(asked or machine_zone(env), asked=bool(asked)),
        lexicon=_lexicon_files(place, file.lexicon, env.get("METNOS_LEXICON", "")),
        cache_entries=file.cache_entries,
        cache_days=file.cache_days,
        cache_share=file.cache_share,
        cache_near_error=_error_rate(file.cache_near_error),
        tries=_tries(file.tries),
        wording=file.answer.wording,
        planning_s=_seconds("planning_s", file.planning_s),
        planning_idle_s=None if file.planning_idle_s is None else _seconds("planning_idle_s", file.planning_idle_s),
    )


def _error_rate(rate: float) -> float:
    if not 0.0 <= rate <= 0.5:
        raise SettingsFault("cache_near_error", f"{rate} is not between 0 and 0.5", "0 switches near matches off")
    return rate


def _tries(tries: int) -> int:
    if not 1 <= tries <= MOST_TRIES:
        raise SettingsFault("tries", f"{tries} is not between 1 and {MOST_TRIES}", "1: every failure is told at once")
    return tries


def _seconds(setting: str, seconds: float) -> float:
    if not 0 < seconds < float("inf"):
        raise SettingsFault(setting, f"{seconds} is no time to wait", "a number of seconds above 0")
    return seconds


def _lexicon_files(home: Path, named: Iterable[str], listed: str) -> tuple[Path, ...]:
    found = [_folder("lexicon", name) for name in listed.split(os.pathsep) if name]
    found = found or [_folder("lexicon", home / Path(name).expanduser()) for name in named]
    for path in found:
        if not path.is_file():
            raise SettingsFault("lexicon", f"{path} is no file", "name a lexicon file that is there")
    return tuple(found)


def _folder(setting: str, named: str | Path) -> Path:
    """The absolute path of a folder that somebody named; whether it is there is another question."""
    try:
        if "\0" in str(named):
            raise ValueError("a path holds no NUL")  # noqa: TRY301 - one place for every name that is none
        return Path(named).expanduser().absolute()
    except (ValueError, RuntimeError) as fault:  # RuntimeError: `~somebody`, whom nobody knows
        raise SettingsFault(
            setting, f"{str(named)!r} names no folder: {fault}", "name a folder that is there"
        ) from fault


def _usable_folder(folder: Path) -> Path:
    if not folder.is_dir():
        raise SettingsFault("folder", f"{folder} is no folder", "stand in a folder that is there")
    return folder


def _usable_language(language: str | None) -> str | None:
    if language is not None and language not in LANGUAGES:
        raise SettingsFault("language", f"no language is called {language!r}", f"one of {', '.join(LANGUAGES)}")
    return language


def _grantable(folder: Path) -> bool:
    """The current folder is granted unless it is or holds the home folder (`/` does), which must be named."""
    home, here = Path(os.path.realpath(Path.home())), Path(os.path.realpath(folder))
    return here != Path("/") and here != home and here not in home.parents
