"""Foreign tools: MCP servers and OpenAPI services that an operator imported, their pins and their clients.

Law: what others describe is loosened by `contracts/foreign.py` and pinned here; a call goes out only to what was pinned.
Nothing here plans, decides or records. The packages `mcp` and `httpx2` are loaded where they are first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metnos.foreign.importing import import_mcp, import_openapi
    from metnos.foreign.model import Import

__all__ = ["Import", "import_mcp", "import_openapi"]


def __getattr__(name: str) -> Any:
    if name in ("import_mcp", "import_openapi"):
        from metnos.foreign import importing

        return getattr(importing, name)
    if name == "Import":
        from metnos.foreign.model import Import

        return Import
    raise AttributeError(name)
