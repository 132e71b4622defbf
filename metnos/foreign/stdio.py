"""An MCP server as a process of ours: started with what was declared, read with a limit, ended for certain.

Law: the server gets `PATH` and the variables of its import, nothing else. One line is one message and may have
`most_bytes`; a longer one ends the server. Its stderr is not shown to anybody but in a fault, and only the last line.
Whatever ends the block ends the process group: stdin closed, then SIGTERM, then SIGKILL.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from metnos.foreign.faults import CallFault
from metnos.foreign.network import too_large

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

GRACE_S = 1.0
"""How long a server is given to end by itself, and after SIGTERM."""
_STDERR_BYTES = 4_096
_GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError)


class Watch:
    """What is known of a server that is running, or was."""

    def __init__(self) -> None:
        self.fault: CallFault | None = None
        self.stderr = b""
        self.gone = False
        """It says nothing any more."""

    @property
    def last_line(self) -> str:
        """The last line that it wrote to stderr."""
        lines = self.stderr.decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:300] if lines else ""


@asynccontextmanager
async def stdio(
    command: Sequence[str], *, folder: str, env: dict[str, str], most_bytes: int, watch: Watch
) -> AsyncGenerator[Any]:
    """Start the server; yields the (read, write) streams of an MCP transport.

    Raises:
        CallFault: It cannot be started.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=folder,
            env=env,
            start_new_session=True,
            limit=most_bytes,
        )
    except (OSError, ValueError) as fault:
        text = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
        raise CallFault("unavailable", "foreign-unreachable", f"{command[0]} cannot be started: {text}") from fault
    incoming, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_read, process, incoming, most_bytes, watch)
            tasks.start_soon(_write, process, outgoing, incoming)
            tasks.start_soon(_listen, process, watch)
            try:
                yield read_stream, write_stream
            finally:
                with anyio.CancelScope(shield=True):
                    await _end(process)
                tasks.cancel_scope.cancel()
    finally:
        for stream in (incoming, read_stream, write_stream, outgoing):
            stream.close()


async def _read(process: asyncio.subprocess.Process, incoming: Any, most_bytes: int, watch: Watch) -> None:
    async with incoming:
        while True:
            line = await _line(process, most_bytes, watch)
            if not line:
                watch.gone = True
                return
            try:
                message: SessionMessage | Exception = SessionMessage(
                    jsonrpc_message_adapter.validate_json(line, by_name=False)
                )
            except ValueError as fault:
                message = fault
            try:
                await incoming.send(message)
            except _GONE:
                return


async def _line(process: asyncio.subprocess.Process, most_bytes: int, watch: Watch) -> bytes:
    """The next line; empty: there is none any more."""
    assert process.stdout is not None
    try:
        return await process.stdout.readuntil(b"\n")
    except asyncio.IncompleteReadError:
        return b""
    except asyncio.LimitOverrunError:
        watch.fault = too_large(most_bytes)
        _signal(process, signal.SIGKILL)
        return b""


async def _write(process: asyncio.subprocess.Process, outgoing: Any, incoming: Any) -> None:
    assert process.stdin is not None
    try:
        async with outgoing:
            async for held in outgoing:
                text: str = held.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(text.encode() + b"\n")
                await process.stdin.drain()
    except (*_GONE, OSError):
        incoming.close()  # whoever waits for an answer is told


async def _listen(process: asyncio.subprocess.Process, watch: Watch) -> None:
    assert process.stderr is not None
    while part := await process.stderr.read(_STDERR_BYTES):
        watch.stderr = (watch.stderr + part)[-_STDERR_BYTES:]


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is not None:
            _signal(process, number)
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_S):
                await process.wait()
            break
    _signal(process, signal.SIGKILL)  # children that outlived it
    transport: Any = getattr(process, "_transport", None)  # a child may hold a pipe open: nothing public closes it
    if transport is not None:
        transport.close()


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
