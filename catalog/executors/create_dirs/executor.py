"""Makes one folder, and those above it that are missing.

Law: a folder that is there already is a success in which nothing was made, and then no effect is told.
"""

from __future__ import annotations

from typing import Any

from metnos.sdk import Context, Effect, FilesError, Result


def run(args: dict[str, Any], ctx: Context) -> Result:
    """Make the folder."""
    path = args["path"]
    try:
        made = ctx.files.make_dir(path)
    except FilesError as fault:
        return Result.failed(fault.cls, fault.code, f"{path}: {fault.message}", where="/path", hint=fault.hint)
    actions = [{"do": "remove_dir", "path": place} for place in reversed(made)]
    effects = (Effect(cls="create", target=path, undo={"actions": actions}),) if made else ()
    return Result.done({"path": path, "made": bool(made)}, effects=effects)
