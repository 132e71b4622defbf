"""What one import is, as it is stored: how to reach it, and each tool as it was when the operator took it in.

Law: data. A value that is secret is not in here: `${NAME}` in a header or in a variable names the variable of Metnos's
own environment that is read at each connection.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from metnos.sdk import EffectClass

FORMAT = 1
"""Of the stored file; another number is refused."""
DEFAULT_TIMEOUT_S = 30.0
DEFAULT_OUTPUT_BYTES = 4 * 1024 * 1024
MOST_TOOLS = 2_000

Place = Literal["path", "query", "header", "body"]
Style = Literal["one", "repeat", "comma", "space", "pipe", "fields", "deep", "json"]


class Stdio(msgspec.Struct, frozen=True, kw_only=True, tag="stdio"):
    """An MCP server that is started as a process."""

    command: tuple[str, ...]
    folder: str
    """Absolute: where it is started."""
    env: dict[str, str] = {}
    """Variable → value; beside `PATH` it is given no other."""


class Http(msgspec.Struct, frozen=True, kw_only=True, tag="http"):
    """A server at a URL: MCP over streamable HTTP, or the base of an OpenAPI service."""

    url: str
    headers: dict[str, str] = {}
    allow_hosts: tuple[str, ...] = ()
    """Hosts that may lie in loopback and private networks, as they are spelled in the URL."""


Reach: TypeAlias = Stdio | Http


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """Where one argument of an OpenAPI operation goes."""

    argument: str
    name: str
    """As the service calls it."""
    place: Place
    style: Style = "one"


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """How an OpenAPI operation is sent."""

    method: str
    path: str
    """With `{name}` for each path parameter, relative to the service's base."""
    parameters: tuple[Parameter, ...] = ()


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool as it was pinned."""

    name: str
    """As the server calls it."""
    digest: str
    """`sha256:…` over name, description and both schemas."""
    description: str = ""
    input_schema: dict[str, Any] = {}
    output_schema: dict[str, Any] | None = None
    """None: the server promises nothing; a tool of MCP then gives `text` and `content`."""
    effect: EffectClass = "execute"
    targets: tuple[str, ...] = ()
    """Arguments that a person is shown when asked; by the operator."""
    operation: Operation | None = None
    """OpenAPI only."""


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that was offered and not imported, and why."""

    name: str
    reason: str


class Import(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One server or service."""

    format: int = FORMAT
    kind: Literal["mcp", "openapi"]
    name: str
    reach: Reach
    tools: tuple[Tool, ...]
    left_out: tuple[LeftOut, ...] = ()
    timeout_s: float = DEFAULT_TIMEOUT_S
    output_bytes: int = DEFAULT_OUTPUT_BYTES

    @property
    def source(self) -> str:
        """Where its results come from, as provenance names it."""
        return f"untrusted:{self.kind}:{self.name}"
