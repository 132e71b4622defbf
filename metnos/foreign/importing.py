"""Importing: connect once, look at what is offered, pin it, keep it.

Law: the operator's act, never a plan's. What cannot be checked stays out, by name and with the reason. Nothing that the
server says about itself decides an effect class; only the operator does.

    import_mcp(home, "files", command=["python", "server.py"], effects={"list_files": "read"})
"""

from __future__ import annotations

import asyncio
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from metnos import plainfile
from metnos.contracts.aliases import alias
from metnos.foreign import store
from metnos.foreign.clients import Background
from metnos.foreign.describing import reason_against
from metnos.foreign.faults import CallFault, ImportFault, need
from metnos.foreign.model import (
    DEFAULT_OUTPUT_BYTES,
    DEFAULT_TIMEOUT_S,
    Http,
    Import,
    LeftOut,
    Reach,
    Stdio,
    Tool,
)
from metnos.plan.jsondata import JSONFault, loads_strict
from metnos.sdk import EffectClass

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Mapping, Sequence

MOST_DOCUMENT_BYTES = 8 * 1024 * 1024
MOST_DOCUMENT_DEPTH = 64
FETCH_S = 30.0


def import_mcp(
    home: str | Path,
    name: str,
    *,
    command: Sequence[str] = (),
    url: str | None = None,
    folder: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    allow_hosts: Iterable[str] = (),
    effects: Mapping[str, EffectClass] | None = None,
    targets: Mapping[str, Sequence[str]] | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    output_bytes: int = DEFAULT_OUTPUT_BYTES,
    variables: Mapping[str, str] | None = None,
) -> Import:
    """Import the tools of an MCP server, in place of an earlier import of that name.

    Args:
        home: `METNOS_HOME`.
        name: Its tools are called `NAME.tool`.
        command: Of a server that is started as a process; or
        url: of one that speaks streamable HTTP.
        folder: Where the process is started; default the current folder.
        env: Variables of the process; `${X}` is filled in from Metnos's own at each start.
        headers: Of every request, the same way.
        allow_hosts: Hosts that may lie in loopback or private networks.
        effects: Tool → effect class; every other tool is `execute`, which policy denies.
        targets: Tool → arguments that a person is shown when asked.
        timeout_s: Of one call, in seconds.
        output_bytes: Most bytes of one result.
        variables: The environment; default this process's.

    Raises:
        ImportFault: The server cannot be reached, an effect names no tool, or a package is missing.
    """
    if bool(command) == bool(url):
        raise ImportFault("import-fault", "an MCP server has either a command or a URL", where=name)
    reach: Reach = (
        Http(url=url, headers=dict(headers or {}), allow_hosts=tuple(allow_hosts))
        if url
        else Stdio(command=tuple(command), folder=str(Path(folder or Path.cwd()).absolute()), env=dict(env or {}))
    )
    draft = Import(
        kind="mcp", name=store.require_name(name), reach=reach, tools=(), timeout_s=timeout_s, output_bytes=output_bytes
    )
    tools, wrong = _run(_listed(draft, os.environ if variables is None else variables))
    left_out = tuple(LeftOut(name=each, reason=reason) for each, reason in wrong.items())
    return _keep(Path(home), draft, tuple(tools.values()), left_out, effects or {}, targets or {})


def import_openapi(
    home: str | Path,
    name: str,
    document: str | Path,
    *,
    allow: Iterable[str],
    url: str | None = None,
    headers: Mapping[str, str] | None = None,
    allow_hosts: Iterable[str] = (),
    effects: Mapping[str, EffectClass] | None = None,
    targets: Mapping[str, Sequence[str]] | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    output_bytes: int = DEFAULT_OUTPUT_BYTES,
) -> Import:
    """Import operations of an OpenAPI 3 document, in place of an earlier import of that name.

    Args:
        home: `METNOS_HOME`.
        name: Its tools are called `NAME.operation`.
        document: A JSON file, or an http(s) URL of one.
        allow: Operations by `operationId`, or as `METHOD /path`; no other is imported.
        url: Base of the service; default the document's first server.
        headers: Of every request; `${X}` is filled in from Metnos's environment when it is sent.
        allow_hosts: Hosts that may lie in loopback or private networks.
        effects: Operation → effect class; every other one is `execute`, which policy denies. The HTTP method decides
            nothing.
        targets: Operation → arguments that a person is shown when asked.
        timeout_s: Of one call, in seconds.
        output_bytes: Most bytes of one answer.

    Raises:
        ImportFault: The document cannot be read, an operation is not in it, or a package is missing.
    """
    from metnos.foreign.openapi import base_url, read_document

    hosts = tuple(allow_hosts)
    data = _parsed(_document(str(document), hosts), str(document))
    tools, left_out = read_document(data, set(allow))
    reach = Http(url=base_url(data, str(document), url), headers=dict(headers or {}), allow_hosts=hosts)
    draft = Import(
        kind="openapi",
        name=store.require_name(name),
        reach=reach,
        tools=(),
        timeout_s=timeout_s,
        output_bytes=output_bytes,
    )
    return _keep(Path(home), draft, tools, left_out, effects or {}, targets or {})


def _keep(
    home: Path,
    draft: Import,
    tools: tuple[Tool, ...],
    left_out: tuple[LeftOut, ...],
    effects: Mapping[str, EffectClass],
    targets: Mapping[str, Sequence[str]],
) -> Import:
    """Annotate, leave out what cannot be checked, write."""
    names = {tool.name for tool in tools}
    for annotated in (*effects, *targets):
        if annotated not in names:
            known = ", ".join(sorted(names)[:20])
            raise ImportFault(
                "import-fault", f"there is no tool {annotated!r}", where=annotated, hint=f"there are {known}"
            )
    for annotated, effect in effects.items():
        if effect not in get_args(EffectClass):
            raise ImportFault("import-fault", f"{effect!r} is no effect class", where=annotated)
    taken: list[Tool] = []
    out = list(left_out)
    for tool in tools:
        tool = msgspec.structs.replace(
            tool, effect=effects.get(tool.name, "execute"), targets=tuple(targets.get(tool.name, ()))
        )
        reason = reason_against(draft, tool) or _clash(draft, tool, taken)
        if reason:
            out.append(LeftOut(name=tool.name, reason=reason))
        else:
            taken.append(tool)
    imported = msgspec.structs.replace(draft, tools=tuple(taken), left_out=tuple(out))
    store.save(home, imported)
    return imported


def _clash(draft: Import, tool: Tool, taken: list[Tool]) -> str:
    called = alias(f"{draft.name}.{tool.name}")
    other = next((each.name for each in taken if alias(f"{draft.name}.{each.name}") == called), None)
    return "" if other is None else f"{called} is the tool {other} already"


async def _listed(draft: Import, variables: Mapping[str, str]) -> tuple[dict[str, Tool], dict[str, str]]:
    try:
        from metnos.foreign.mcp_client import McpClient

        import_module("mcp")
    except ImportError as missing:
        raise need("mcp", missing) from missing
    client = McpClient(draft.name, draft.reach, variables, output_bytes=draft.output_bytes)
    try:
        return await client.tools()
    finally:
        await client.close()


def _document(place: str, allow_hosts: tuple[str, ...]) -> bytes:
    if place.startswith(("http://", "https://")):
        return _run(_fetched(place, allow_hosts))
    try:
        found = plainfile.read_given(Path(place), MOST_DOCUMENT_BYTES + 1)
    except OSError as fault:
        raise ImportFault("import-fault", fault.strerror or str(fault), where=place) from fault
    return found


async def _fetched(url: str, allow_hosts: tuple[str, ...]) -> bytes:
    try:
        import httpx2

        from metnos.foreign.network import open_client
    except ImportError as missing:
        raise need("http", missing) from missing
    client = open_client(allow_hosts, most_bytes=MOST_DOCUMENT_BYTES).http
    try:
        async with client, asyncio.timeout(FETCH_S):
            answer = await client.get(url, follow_redirects=True)
    except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as fault:
        raise ImportFault("foreign-unreachable", str(fault) or "it did not answer in time", where=url) from fault
    if answer.status_code != 200:
        raise ImportFault("import-fault", f"HTTP {answer.status_code}", where=url)
    return answer.content


def _parsed(found: bytes, place: str) -> Any:
    try:
        return loads_strict(found, max_bytes=MOST_DOCUMENT_BYTES, max_depth=MOST_DOCUMENT_DEPTH)
    except JSONFault as fault:
        hint = "documents are read as JSON; a YAML one is to be converted first"
        raise ImportFault("import-fault", f"{fault.code}: {fault.message}", where=place, hint=hint) from fault


def _run(work: Coroutine[Any, Any, Any]) -> Any:
    """Wait for `work` on a loop of its own, whether or not one runs in this thread.

    Raises:
        ImportFault: What a `CallFault` of it says.
    """
    background = Background("metnos-import")
    try:
        return background.submit(work).result()
    except CallFault as fault:
        raise ImportFault(fault.code, fault.message, where=fault.where, hint=fault.hint) from fault
    finally:
        background.close(_nothing)


async def _nothing() -> None:
    """Nothing is left to close."""
