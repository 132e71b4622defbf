"""`metnos catalog`, `metnos examples` and `metnos schema`: what is there to use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import click

from metnos.cli import exits
from metnos.cli.options import Desk, command
from metnos.cli.output import Fault, hint_of_code
from metnos.text import message

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.contracts.catalog import Refused
    from metnos.contracts.model import Contract
    from metnos.engine import Engine
    from metnos.plan.diagnostics import Diagnostic

SCHEMAS: tuple[str, ...] = ("plan", "manifest", "run", "case", "trace")
TOOLS = "tools"
TRUST = "trust.json"
"""What is refused where the whole catalog folder is."""
COMMANDS: dict[str, tuple[str, str]] = {
    "list": ("metnos.cli.catalog", "List the tools that were admitted, and what was refused and why."),
    "show": ("metnos.cli.catalog", "Show one contract."),
    "verify": ("metnos.cli.trust", "Verify every envelope and code file anew."),
    "sign": ("metnos.cli.trust", "Sign a folder of executors of your own."),
    "keys": ("metnos.cli.trust", "List your signing keys, or make one."),
    "import": ("metnos.cli.foreign", "Import the tools of an MCP server or of an OpenAPI service."),
    "imports": ("metnos.cli.foreign", "List what is imported, or show one import."),
    "remove": ("metnos.cli.foreign", "Forget an import."),
}
"""Command of `metnos catalog` → (module, help line); the function is named like it, with `_command` behind it."""


class CatalogGroup(click.Group):
    """Commands by table; whatever is none of them is the name of a tool, and nothing at all lists every tool."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name == TOOLS:
            return tools_command
        if cmd_name not in COMMANDS:
            return None
        module, _ = COMMANDS[cmd_name]
        found: click.Command = getattr(import_module(module), f"{cmd_name}_command")
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Options may stand before the command, as everywhere."""
        if args in (["--help"], ["-h"]):
            return super().parse_args(ctx, args)
        at = next((place for place, word in enumerate(args) if word in COMMANDS), None)
        if at is None or "--" in args[:at]:
            return super().parse_args(ctx, [TOOLS, *args])
        return super().parse_args(ctx, [args[at], *args[:at], *args[at + 1 :]])


@click.group(cls=CatalogGroup, subcommand_metavar="[NAME | COMMAND [ARGS]...]")
def catalog_command() -> None:
    """List the tools that were admitted, and what was refused and why; or show the contract of NAME."""


def _effects(contract: Contract) -> str:
    return "/".join(dict.fromkeys(rule.effect for rule in contract.effects))


@command()
@click.argument("name", required=False)
def tools_command(desk: Desk, name: str | None) -> int:
    """List the tools that were admitted, and what was refused and why; or show one contract."""
    return _tools(desk, name)


@command(name="list")
def list_command(desk: Desk) -> int:
    """List the tools that were admitted, and what was refused and why."""
    return _tools(desk, None)


@command(name="show")
@click.argument("name")
def show_command(desk: Desk, name: str) -> int:
    """Show one contract."""
    return _tools(desk, name)


def _tools(desk: Desk, name: str | None) -> int:
    output = desk.output
    with desk.engine() as engine:
        catalog, refused = engine.catalog, engine.refused
    language = desk.language or "en"
    if name is not None:
        contract = catalog.get(name)
        if contract is None:
            tell_refused(desk, [one for one in refused if one.name in {name, TRUST}])
            hint = "`metnos catalog` lists them"
            raise Fault("unknown-tool", f"no tool is called {name!r}", hint=hint, status=exits.USAGE)
        if output.json:
            output.data(contract)
        else:
            _show(desk, contract)
        return exits.OK
    contracts = [contract for contract in map(catalog.get, catalog.names()) if contract is not None]
    if output.json:
        output.data({"digest": catalog.digest, "tools": contracts, "refused": refused})
    else:
        width = max((len(contract.name) for contract in contracts), default=0)
        for contract in contracts:
            said = contract.descriptions.get(language) or contract.descriptions.get("en", "")
            output.line(f"{contract.name:{width}}  {_effects(contract):13}  {said}")
    tell_refused(desk, refused)
    return exits.OK if not refused else exits.TRUST


def tell_refused(desk: Desk, refused: Iterable[Refused]) -> None:
    """What is in the catalog folder and stays out, on stderr: name, code, what was found."""
    for one in refused:
        fault = one.diagnostic
        found = ": ".join(filter(None, (fault.where, fault.found)))
        if fault.expected:
            found = message("catalog.misfit", desk.language, found=found, expected=fault.expected)
        desk.output.note(message("catalog.refused", desk.language, name=one.name, code=fault.code, found=found))
        hint = desk.output.typed(fault.hint or hint_of_code(fault.code))
        if hint:
            desk.output.note(f"    hint: {hint}")


def tell_withheld(desk: Desk, engine: Engine, faults: Iterable[Diagnostic]) -> None:
    """Where a plan names a tool that the catalog folder holds and that was not let in: that, and why."""
    unknown = {fault.found for fault in faults if fault.code == "unknown-tool"}
    if unknown:
        tell_refused(desk, [one for one in engine.refused if one.name in unknown | {TRUST}])


def _show(desk: Desk, contract: Contract) -> None:
    output = desk.output
    output.line(f"{contract.reference}  {_effects(contract)}")
    output.line(contract.descriptions.get(desk.language or "en") or contract.descriptions.get("en", ""))
    required = set(contract.args.get("required", ()))
    for name, schema in contract.args.get("properties", {}).items():
        kind = schema.get("type") or schema.get("enum", ("any",))
        kind = kind if isinstance(kind, str) else " | ".join(map(str, kind))
        mark = "required" if name in required else "optional"
        output.line(f"  {name}: {kind} ({mark})  {schema.get('description', '')}".rstrip())
    if contract.produces is not None:
        output.line(f"  gives {contract.produces.kind} in `{contract.produces.field}`")
    output.line(f"  {contract.digest}")


@command()
@click.argument("word", default="")
def examples_command(desk: Desk, word: str) -> int:
    """Sentences that work without a model; only those about WORD if it is given."""
    output = desk.output
    with desk.engine() as engine:
        found = engine.examples(word, desk.language)
    if output.json:
        output.data({"examples": found})
    for example in [] if output.json else found:
        output.line(f"{example.text}")
    return exits.OK if found else exits.NOT_OK


@command()
@click.argument("what", type=click.Choice(SCHEMAS))
def schema_command(desk: Desk, what: str) -> int:
    """Print the JSON Schema of plan files, manifests, run files of `metnos eval`, cases, or lines of ExecutionTrace."""
    if what == "run":
        from metnos.evaluate.running.runfile import run_schema

        desk.output.data(run_schema())
    elif what == "case":
        from metnos.evaluate.cases.files import case_schema

        desk.output.data(case_schema())
    elif what == "trace":
        from metnos.evaluate.trace import schema

        desk.output.data(schema())
    else:
        from metnos.engine import json_schema

        desk.output.data(json_schema(what))
    return exits.OK
