"""One MCP server, connected when it is first needed and kept until the end or until it dies.

Law: everything here runs on one event loop (`clients.py` owns it). The connection lives in a task of its own, because
what it enters it must leave itself. Before a call the tool is compared with its pin; the listing is read anew after each
connection, when the server says that it changed, and when it is older than `LISTING_S`. The server may ask for nothing:
no model, no roots, no questions to people.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from metnos.foreign.faults import CallFault
from metnos.foreign.mcp_results import result_of, tools_of
from metnos.foreign.model import MOST_TOOLS, Stdio
from metnos.foreign.pins import drift
from metnos.foreign.secrets import filled_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metnos.foreign.model import Reach, Tool
    from metnos.sdk import Result

CONNECT_S = 20.0
LISTING_S = 30.0
_MOST_PAGES = 100
_SLACK = 64 * 1024
"""Beside the result a message has an envelope."""


class McpClient:
    """Calls tools of one server; safe for any number of tasks of its loop."""

    def __init__(self, name: str, reach: Reach, variables: Mapping[str, str], *, output_bytes: int) -> None:
        self._name = name
        self._reach = reach
        self._variables = variables
        self._most = output_bytes + _SLACK
        self._connection: Connection | None = None

    async def call(self, tool: Tool, args: dict[str, Any], source: str) -> Result:
        """Call a pinned tool.

        Raises:
            CallFault: It cannot be reached, is another than was pinned, or failed.
        """
        connection = await self.connected()
        await connection.require(tool)
        from mcp import MCPError

        try:
            answer = await connection.client.call_tool(tool.name, args)
        except MCPError as fault:
            raise await connection.explain(fault, acts=tool.effect != "read") from fault
        except CallFault:
            raise
        except Exception as fault:  # pydantic's and the SDK's own: what came is not MCP
            cls = "data" if tool.effect == "read" else "internal"
            raise CallFault(cls, "foreign-protocol", f"{type(fault).__name__}: {str(fault)[:500]}") from fault
        return result_of(answer, tool, source, tool.effect)

    async def tools(self) -> tuple[dict[str, Tool], dict[str, str]]:
        """The server's tools as they are now; and why others are none."""
        return await (await self.connected()).listing(fresh=True)

    async def connected(self) -> Connection:
        """The open connection; one that has ended is replaced, and any number of tasks wait for one opening.

        Raises:
            CallFault: The server cannot be reached.
        """
        if self._connection is None or self._connection.ended:
            if self._connection is not None:
                self._connection.end()
            self._connection = Connection(self._name, self._reach, self._variables, self._most)
        connection = self._connection
        await asyncio.shield(connection.opened)
        return connection

    async def close(self) -> None:
        """End the connection, and the server if it is ours."""
        if self._connection is not None:
            await self._connection.close()
            self._connection = None


class Connection:
    """One connection, from its opening to its end."""

    def __init__(self, name: str, reach: Reach, variables: Mapping[str, str], most_bytes: int) -> None:
        self._name = name
        self._reach = reach
        self._variables = variables
        self._most = most_bytes
        self._closing = asyncio.Event()
        self._listed: tuple[dict[str, Tool], dict[str, str]] | None = None
        self._listed_at = 0.0
        self._listing = asyncio.Lock()
        self._watch: Any = None
        self._backend: Any = None
        self.fault: CallFault | None = None
        self.client: Any = None
        loop = asyncio.get_running_loop()
        self.opened: asyncio.Future[None] = loop.create_future()
        self.opened.add_done_callback(_heard)
        self._task = loop.create_task(self._live(), name=f"mcp {name}")

    @property
    def ended(self) -> bool:
        """Whether it is over, or ending."""
        return self._task.done() or self._closing.is_set() or (self._watch is not None and self._watch.gone)

    def end(self) -> None:
        """Let it end by itself."""
        self._closing.set()

    async def close(self) -> None:
        """End it, and wait for that."""
        self._closing.set()
        if not self.opened.done():
            self._task.cancel()
        await asyncio.wait([self._task])

    # --- what calls ask ------------------------------------------------------------------------------------------

    async def require(self, tool: Tool) -> None:
        """Compare a tool with its pin.

        Raises:
            CallFault: `foreign-drift`.
        """
        tools, wrong = await self.listing()
        found = ("its listing", wrong[tool.name]) if tool.name in wrong else drift(tool, tools.get(tool.name))
        if found is None:
            return
        field, now = found
        raise CallFault(
            "denied",
            "foreign-drift",
            f"{self._name}.{tool.name} is not the tool that was imported: {field}: {now}",
            where=field,
            hint=f"look at it, then import {self._name} again",
        )

    async def listing(self, *, fresh: bool = False) -> tuple[dict[str, Tool], dict[str, str]]:
        """All tools of the server, not older than `LISTING_S`."""
        async with self._listing:
            old = time.monotonic() - self._listed_at > LISTING_S
            if self._listed is None or fresh or old:
                self._listed_at = time.monotonic()
                self._listed = tools_of(await self._all_pages())
            return self._listed

    async def _all_pages(self) -> list[Any]:
        from mcp import MCPError

        found: list[Any] = []
        cursor: str | None = None
        try:
            for _ in range(_MOST_PAGES):
                page = await self.client.list_tools(cursor=cursor)
                found += page.tools
                cursor = page.next_cursor
                if cursor is None or len(found) > MOST_TOOLS:
                    break
        except MCPError as fault:
            raise await self.explain(fault, acts=False) from fault
        except ValueError as fault:  # pydantic's
            raise CallFault("data", "foreign-protocol", f"its listing is no listing: {str(fault)[:500]}") from fault
        if cursor is not None or len(found) > MOST_TOOLS:
            raise CallFault("oversize", "too-large", f"{self._name} lists more than {MOST_TOOLS} tools")
        return found

    async def explain(self, fault: Any, *, acts: bool) -> CallFault:
        """What an error of the protocol means; `acts`: an effect may have been made."""
        from mcp_types import CONNECTION_CLOSED

        if fault.code != CONNECTION_CLOSED:
            return CallFault("operational", "tool-error", str(fault.message)[:2_000])
        self.end()
        await asyncio.wait([self._task], timeout=CONNECT_S)
        known = self._known_fault()
        if known is not None and (known.cls in ("denied", "oversize")) and not acts:
            return known
        said = known.message if known is not None else self._last_line()
        cls = "crashed" if acts else "unavailable"
        message = f"{self._name} went away in mid-call" + (f": {said}" if said else "")
        return CallFault(cls, "foreign-lost", message, retryable=not acts)

    def _known_fault(self) -> CallFault | None:
        for holder in (self._watch, self._backend):
            if holder is not None and holder.fault is not None:
                return holder.fault
        return self.fault

    def _last_line(self) -> str:
        return "" if self._watch is None else self._watch.last_line

    # --- its life ------------------------------------------------------------------------------------------------

    async def _live(self) -> None:
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(CONNECT_S):
                    self.client = await stack.enter_async_context(await self._client(stack))
                self.client.session.validate_tool_result = _valid  # the border does, on an engine without backtracking
                self.opened.set_result(None)
                await self._until_the_end()
        except asyncio.CancelledError:
            self._fail(CallFault("unavailable", "foreign-unreachable", f"{self._name} was closed"))
            raise
        except Exception as fault:  # noqa: BLE001 - whatever ends a connection is told by the next call
            self._fail(self._fault_of(fault))

    async def _until_the_end(self) -> None:
        closing = asyncio.create_task(self._closing.wait())
        try:
            await closing
        finally:
            closing.cancel()

    async def _client(self, stack: AsyncExitStack) -> Any:
        _quiet()
        from mcp import Client
        from mcp_types import Implementation

        transport = self._process() if isinstance(self._reach, Stdio) else await self._web(stack)
        return Client(
            transport,
            cache=None,
            client_info=Implementation(name="metnos", version="1"),
            message_handler=self._hear,
        )

    def _process(self) -> Any:
        from metnos.foreign.stdio import Watch, stdio

        assert isinstance(self._reach, Stdio)
        self._watch = Watch()
        env = {"PATH": self._variables.get("PATH", os.defpath), **filled_in(self._reach.env, self._variables)}
        return stdio(self._reach.command, folder=self._reach.folder, env=env, most_bytes=self._most, watch=self._watch)

    async def _web(self, stack: AsyncExitStack) -> Any:
        from mcp.client.streamable_http import streamable_http_client

        from metnos.foreign.network import open_client

        assert not isinstance(self._reach, Stdio)
        headers = filled_in(self._reach.headers, self._variables)
        opened = open_client(self._reach.allow_hosts, most_bytes=self._most, headers=headers)
        self._backend = opened.backend
        await stack.enter_async_context(opened.http)
        return streamable_http_client(self._reach.url, http_client=opened.http, max_sse_event_size=self._most)

    async def _hear(self, message: Any) -> None:
        """The server says something: that its tools changed is all that matters."""
        if type(message).__name__ == "ToolListChangedNotification":
            self._listed = None

    def _fail(self, fault: CallFault) -> None:
        self.fault = self._known_fault() or fault
        if not self.opened.done():
            self.opened.set_exception(self.fault)

    def _fault_of(self, fault: BaseException) -> CallFault:
        fault = _first(fault)
        if isinstance(fault, CallFault):
            return fault
        if isinstance(fault, TimeoutError):
            text = f"it did not answer within {CONNECT_S:g} s"
        else:
            text = self._last_line() or str(fault)[:500] or type(fault).__name__
        return CallFault(
            "unavailable", "foreign-unreachable", f"{self._name} cannot be reached: {text}", retryable=True
        )


def _first(fault: BaseException) -> BaseException:
    """What a group of faults began with."""
    inside: tuple[BaseException, ...] = getattr(fault, "exceptions", ())
    return _first(inside[0]) if inside else fault


async def _valid(*_given: Any) -> None:
    """Nothing."""


def _heard(future: asyncio.Future[None]) -> None:
    """A failure that nobody waited for is no news."""
    if not future.cancelled():
        future.exception()


def _quiet() -> None:
    """The SDK writes what goes wrong to its log, and Python writes that to stderr unless somebody listens."""
    for name in ("mcp", "client"):
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
