"""`metnos catalog import|imports|remove`: tools of MCP servers and OpenAPI services, taken in by the operator.

Law: it reads what was typed and shows what came of it; what an import is, is `metnos/foreign/`'s business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from metnos.cli import exits
from metnos.cli.options import Desk, command, read_pairs
from metnos.cli.output import Fault
from metnos.sdk import EFFECT_CLASSES, EffectClass
from metnos.text import message

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from metnos.foreign.model import Import

_SHARED: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--effect",
        "effects",
        multiple=True,
        metavar="TOOL=CLASS",
        help=f"What a tool does: {', '.join(EFFECT_CLASSES)}. Unannotated: execute, which is denied. Repeatable.",
    ),
    click.option(
        "--target",
        "targets",
        multiple=True,
        metavar="TOOL=ARGUMENT",
        help="An argument that you are shown when asked to allow the tool; repeatable.",
    ),
    click.option(
        "--header",
        "headers",
        multiple=True,
        metavar="NAME=VALUE",
        help="A header of every request; ${VARIABLE} in it is read from the environment when it is sent. Repeatable.",
    ),
    click.option(
        "--allow-host",
        "allow_hosts",
        multiple=True,
        metavar="HOST",
        help="A host that may lie in a loopback or private network; repeatable.",
    ),
    click.option("--timeout", "timeout_s", type=click.FloatRange(0.1, 3600), default=30.0, help="Seconds of one call."),
    click.option(
        "--max-bytes", "output_bytes", type=click.IntRange(1024, 16 << 20), default=4 << 20, help="Of one result."
    ),
)


def _shared(function: Any) -> Any:
    for option in reversed(_SHARED):
        function = option(function)
    return function


@click.group()
def import_command() -> None:
    """Import tools of others: connect once, pin each tool, keep it in this home."""


@command(name="mcp")
@click.argument("name")
@click.argument("words", nargs=-1, metavar="[-- COMMAND ARGS...]", type=click.UNPROCESSED)
@click.option("--url", help="Of a server that speaks streamable HTTP, instead of a command.")
@click.option(
    "--env",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="A variable of the server's process; without a value that of Metnos at each start. Repeatable.",
)
@_shared
def mcp_command(
    desk: Desk, name: str, words: tuple[str, ...], url: str | None, env: tuple[str, ...], **rest: Any
) -> int:
    """Import the tools of an MCP server as NAME.tool: a command that is started, or --url.

    The server runs as you do, in no sandbox: import only what you would run.
    """
    from metnos.foreign import import_mcp

    variables = read_pairs(tuple(each if "=" in each else f"{each}=${{{each}}}" for each in env))
    imported = import_mcp(_home(desk), name, command=words, url=url, env=variables, **_read(rest))
    return _told(desk, imported)


@command(name="openapi")
@click.argument("name")
@click.argument("document", metavar="FILE|URL")
@click.option(
    "--allow",
    multiple=True,
    required=True,
    metavar="OPERATION",
    help="By operationId, or as `METHOD /path`; repeatable.",
)
@click.option("--url", help="Base of the service; default the document's first server.")
@_shared
def openapi_command(desk: Desk, name: str, document: str, allow: tuple[str, ...], url: str | None, **rest: Any) -> int:
    """Import operations of an OpenAPI 3 document (JSON) as NAME.operation."""
    from metnos.foreign import import_openapi

    return _told(desk, import_openapi(_home(desk), name, document, allow=allow, url=url, **_read(rest)))


import_command.add_command(mcp_command)
import_command.add_command(openapi_command)


@command()
@click.argument("name", required=False)
def imports_command(desk: Desk, name: str | None) -> int:
    """List what is imported; or show every pinned tool of NAME."""
    from metnos.foreign import store

    home = _home(desk)
    if name is not None:
        return _told(desk, store.find(home, name))
    found = list(store.load(home))
    good = [each for each in found if not isinstance(each, tuple)]
    bad = [each for each in found if isinstance(each, tuple)]
    if desk.output.json:
        broken = [{"name": each, "code": fault.code, "found": fault.message} for each, fault in bad]
        desk.output.data({"imports": good, "broken": broken})
    for each in [] if desk.output.json else good:
        desk.output.line(f"{each.name}  {each.kind}  {_place(each)}  {len(each.tools)}")
    for broken_name, fault in bad:
        text = message("catalog.refused", desk.language, name=broken_name, code=fault.code, found=fault.message)
        desk.output.note(text)
    return exits.TRUST if bad else exits.OK


@command()
@click.argument("name")
def remove_command(desk: Desk, name: str) -> int:
    """Forget the import NAME and its pins."""
    from metnos.foreign import store

    store.remove(_home(desk), name)
    desk.output.note(message("import.removed", desk.language, name=name))
    if desk.output.json:
        desk.output.data({"removed": name})
    return exits.OK


def _home(desk: Desk) -> Path:
    with desk.engine() as engine:
        return engine.settings.home


def _read(given: dict[str, Any]) -> dict[str, Any]:
    """The shared options as `import_mcp` and `import_openapi` take them."""
    effects: dict[str, EffectClass] = {}
    for tool, effect in read_pairs(given.pop("effects")).items():
        if effect not in EFFECT_CLASSES:
            hint = ", ".join(EFFECT_CLASSES)
            raise Fault("usage", f"{effect!r} is no effect class", where=tool, hint=hint, status=exits.USAGE)
        effects[tool] = effect
    targets: dict[str, tuple[str, ...]] = {}
    for pair in given.pop("targets"):
        [(tool, argument)] = read_pairs((pair,)).items()
        targets[tool] = (*targets.get(tool, ()), argument)
    return {**given, "effects": effects, "targets": targets, "headers": read_pairs(given.pop("headers"))}


def _place(imported: Import) -> str:
    from metnos.foreign.model import Stdio

    return " ".join(imported.reach.command) if isinstance(imported.reach, Stdio) else imported.reach.url


def _told(desk: Desk, imported: Import) -> int:
    output = desk.output
    if output.json:
        output.data(imported)
    else:
        width = max((len(tool.name) for tool in imported.tools), default=0)
        for tool in imported.tools:
            first = tool.description.strip().partition("\n")[0]
            output.line(f"{imported.name}.{tool.name:{width}}  {tool.effect:7}  {first}".rstrip())
        for left in imported.left_out:
            output.note(message("import.left_out", desk.language, name=left.name, reason=left.reason))
        denied = sum(tool.effect == "execute" for tool in imported.tools)
        if denied:
            output.note(message("import.denied", desk.language, count=denied))
    return exits.OK
