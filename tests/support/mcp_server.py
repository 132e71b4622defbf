"""A real MCP server for tests: `python mcp_server.py stdio|PORT [VARIANT]`. It misbehaves by tool and by variant."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer
from typing_extensions import TypedDict

VARIANT = sys.argv[2] if len(sys.argv) > 2 else ""
server = MCPServer("tests", log_level="CRITICAL")


class Note(TypedDict):
    path: str
    words: int


class Notes(TypedDict):
    entries: list[Note]
    count: int


@server.tool(description="Adds two numbers, now in another way." if VARIANT == "changed" else "Adds two numbers.")
def add(a: int, b: int) -> int:
    return a + b


if VARIANT == "changed":

    @server.tool(description="Lists notes.")
    def list_notes(count: str = "2") -> Notes:
        return Notes(entries=[], count=0)

else:

    @server.tool(description="Lists notes.")
    def list_notes(count: int = 2) -> Notes:
        return Notes(entries=[Note(path=f"n{n}.txt", words=n) for n in range(count)], count=count)


@server.tool(structured_output=False, description="Repeats a text.")
def say(text: str) -> str:
    return text


@server.tool(structured_output=False, description="An odd name.", name="read page/now")
def odd(text: str) -> str:
    return text


if VARIANT != "changed":

    @server.tool(description="As many letters as asked for.", structured_output=False)
    def letters(count: int) -> str:
        return "x" * count


@server.tool(description="Always fails.", structured_output=False)
def fail() -> str:
    raise ValueError("it is broken")


@server.tool(description="Appends a line.", structured_output=False)
def append_line(path: str, text: str) -> str:
    with Path(path).open("a") as file:
        file.write(text + "\n")
    return "done"


@server.tool(description="Never answers; says in a file that it was cancelled.", structured_output=False)
async def hang(path: str = "") -> str:
    try:
        await anyio.sleep_forever()
    finally:
        if path:
            append_line(path, "cancelled")
    return ""


@server.tool(description="Its environment.", structured_output=False)
def environment() -> str:
    return "\n".join(f"{name}={value}" for name, value in sorted(os.environ.items()))


class Number(TypedDict):
    n: float


@server.tool(description="What is no number.")
def not_a_number() -> Number:
    return Number(n=float("nan"))


@server.tool(description="A number of thirty digits.")
def huge_number() -> dict[str, Any]:
    return {"n": 10**30}


if __name__ == "__main__":
    if VARIANT == "mute":
        time.sleep(600)
    if VARIANT == "garbage":
        print("this is no protocol", flush=True)
        sys.exit(1)
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
