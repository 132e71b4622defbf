"""The clients of all imports: one background loop, connections opened when first needed, closed with the engine.

Law: a turn runs on whichever loop its caller has, connections outlive turns; so they live on a loop of their own, in one
daemon thread that is started by the first call. Cancelling a call cancels its request. No call raises: every end is a
`Result`.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from metnos.contracts.aliases import alias
from metnos.foreign.describing import result_schema
from metnos.foreign.faults import CallFault, ImportFault
from metnos.sdk import Result

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping

    from metnos.foreign.model import Import, Tool

T = TypeVar("T")
CLOSE_S = 8.0


class Client(Protocol):
    """One server or service."""

    async def call(self, tool: Tool, args: dict[str, Any], source: str) -> Result: ...
    async def close(self) -> None: ...


class Background:
    """An event loop in a daemon thread."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run `work` there.

        Raises:
            RuntimeError: It is closed.
        """
        with self._lock:
            if self._closed:
                work.close()
                raise RuntimeError("the clients are closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True)
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run `last`, at most `CLOSE_S`, then end the thread; safe to repeat."""
        with self._lock:
            loop, thread, self._closed = self._loop, self._thread, True
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(_wind_up(last()), loop).result(CLOSE_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(CLOSE_S)
        if not thread.is_alive():
            loop.close()


async def _wind_up(last: Coroutine[Any, Any, None]) -> None:
    """`last`, then everything that still runs is cancelled."""
    await last
    me = asyncio.current_task()
    left = [task for task in asyncio.all_tasks() if task is not me]
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()


class Clients:
    """Clients of the imports of one engine."""

    def __init__(self, imports: Mapping[str, Import], variables: Mapping[str, str]) -> None:
        """Take imports by name; nothing is connected yet.

        Args:
            imports: as `store.load` gave them.
            variables: the environment that `${NAME}` is looked up in.
        """
        self._imports = imports
        self._variables = variables
        self._background = Background("metnos-foreign")
        self._clients: dict[str, Client] = {}

    def calls(self) -> Iterator[tuple[str, Call]]:
        """Contract name → how it is called."""
        for imported in self._imports.values():
            for tool in imported.tools:
                yield alias(f"{imported.name}.{tool.name}"), Call(self, imported, tool)

    async def call(self, imported: Import, tool: Tool, args: dict[str, Any]) -> Result:
        """One call, from any loop."""
        return await asyncio.wrap_future(self._background.submit(self._called(imported, tool, args)))

    def close(self) -> None:
        """Close every connection; safe to repeat."""
        self._background.close(self._close_all)

    async def _called(self, imported: Import, tool: Tool, args: dict[str, Any]) -> Result:
        try:
            _require_fit(tool, args)
            return await self._client(imported).call(tool, args, f"{imported.kind}:{imported.name}")
        except (CallFault, ImportFault) as fault:
            return _failed(fault)

    def _client(self, imported: Import) -> Client:
        """On the background loop only."""
        client = self._clients.get(imported.name)
        if client is None:
            client = self._clients[imported.name] = open_client(imported, self._variables)
        return client

    async def _close_all(self) -> None:
        await asyncio.gather(*(client.close() for client in self._clients.values()), return_exceptions=True)
        self._clients.clear()


class Call:
    """How one contract is called: what the runners need to know of it."""

    def __init__(self, clients: Clients, imported: Import, tool: Tool) -> None:
        self.sources = (imported.source,)
        self.result: dict[str, Any] = result_schema(imported, tool)

        async def call(args: dict[str, Any], _ctx: Any) -> Result:
            return await clients.call(imported, tool, args)

        self.call: Callable[[dict[str, Any], Any], Awaitable[Result]] = call


def open_client(imported: Import, variables: Mapping[str, str]) -> Client:
    """The client of an import, not connected yet.

    Raises:
        ImportFault: `extra-missing`.
    """
    from metnos.foreign.faults import need

    try:
        if imported.kind == "mcp":
            from metnos.foreign.mcp_client import McpClient

            import_module("mcp")
            return McpClient(imported.name, imported.reach, variables, output_bytes=imported.output_bytes)
        from metnos.foreign.http_client import HttpClient
    except ImportError as missing:
        raise need("mcp" if imported.kind == "mcp" else "http", missing) from missing
    return HttpClient(imported, variables)


def _require_fit(tool: Tool, args: dict[str, Any]) -> None:
    """Hold arguments against the server's own schema: the contract's is looser.

    Raises:
        CallFault: `value-misfit`.
    """
    if not tool.input_schema:
        return
    from metnos.contracts.schemas import validator_for

    validator = validator_for(tool.input_schema)
    if not validator.is_valid(args):
        where, message, _expected = validator(args)[0]
        raise CallFault("arguments", "value-misfit", message, where=where)


def _failed(fault: CallFault | ImportFault) -> Result:
    cls = fault.cls if isinstance(fault, CallFault) else "unavailable"
    retryable = isinstance(fault, CallFault) and fault.retryable
    return Result.failed(cls, fault.code, fault.message, where=fault.where, hint=fault.hint, retryable=retryable)
