"""Row 15: every path-like argument of every shipped executor, spelled in every way, in every form of escape.

`WAYS` is how a path comes into an argument, `ESCAPES` how it tries to leave the granted folder; both are multiplied
with `ARGUMENTS`, which a test holds equal to the manifests.
"""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.attack.table import steps

if TYPE_CHECKING:
    from tests.attack.table import Seen, Stage

OWN: dict[str, dict[str, Any]] = {
    "compute_files_hash": {}, "find_files": {}, "find_texts": {"pattern": "."}, "list_dirs": {}, "read_files": {},
    "read_files_csv": {}, "read_files_json": {}, "create_dirs": {}, "delete_files": {},
    "copy_files": {"overwrite": True}, "move_files": {"overwrite": True},
    "append_files": {"content": "planted"}, "write_files": {"content": "planted", "overwrite": True},
    "undo_effects": {"do": "trash", "digest": "sha256:" + "0" * 64},
}  # fmt: skip
"""Executor → what else a call of it needs."""
OTHER: dict[tuple[str, str], dict[str, str]] = {
    ("copy_files", "path"): {"to": "copied"}, ("copy_files", "to"): {"path": "a.txt"},
    ("copy_files", "folder"): {"path": "a.txt"}, ("move_files", "path"): {"to": "moved"},
    ("move_files", "to"): {"path": "a.txt"}, ("move_files", "folder"): {"path": "a.txt"},
    ("undo_effects", "from"): {"path": "a.txt"},
}  # fmt: skip
"""The other place of a call with two."""
LISTS = frozenset({"files"})
ARGUMENTS: tuple[tuple[str, str], ...] = (
    ("append_files", "path"), ("compute_files_hash", "files"), ("compute_files_hash", "path"),
    ("copy_files", "folder"), ("copy_files", "path"), ("copy_files", "to"), ("create_dirs", "path"), ("delete_files", "path"), ("find_files", "path"),
    ("find_texts", "files"), ("find_texts", "path"), ("list_dirs", "path"), ("move_files", "folder"),
    ("move_files", "path"), ("move_files", "to"), ("read_files", "files"), ("read_files", "path"),
    ("read_files_csv", "files"), ("read_files_csv", "path"), ("read_files_json", "files"), ("read_files_json", "path"),
    ("undo_effects", "from"), ("undo_effects", "path"), ("write_files", "path"),
)  # fmt: skip
ESCAPES: dict[str, Callable[[Stage], str]] = {
    "parents": lambda stage: f"../outside/{stage.name}/secret.txt",
    "parents after a way down": lambda stage: stage.at(f"sub/../../../outside/{stage.name}/secret.txt"),
    "absolute": lambda stage: f"{stage.outside}/secret.txt",
    "absolute with two slashes": lambda stage: f"//{str(stage.outside)[1:]}/secret.txt",
    "by /proc/self": lambda stage: f"/proc/self/root{stage.outside}/secret.txt",
    "link to a folder": lambda stage: stage.at("link/secret.txt"),
    "link to a file": lambda stage: stage.at("link.txt"),
    "link to a root": lambda stage: stage.at(f"root{stage.outside}/secret.txt"),
}
OUT = frozenset({"outside-roots", "symlink", "not-a-folder", "not-found", "value-misfit"})
"""How a step that was told to leave must fail, if its plan was accepted at all."""


def prepare(stage: Stage) -> None:
    """A folder, and three links that lead outside."""
    (stage.folder / "sub").mkdir()
    (stage.folder / "link").symlink_to(stage.outside)
    (stage.folder / "link.txt").symlink_to(stage.outside / "secret.txt")
    (stage.folder / "root").symlink_to("/")
    (stage.folder / "own-trash").mkdir()


def call(stage: Stage, tool: str, arg: str, value: Any) -> tuple[str, dict[str, Any]]:
    """A call whose argument `arg` is `value`, all others harmless."""
    others = {name: stage.at(place) for name, place in OTHER.get((tool, arg), {}).items()}
    more = dict(OWN[tool])
    if tool == "undo_effects" and arg == "from":
        more = {"do": "move", "digest": OWN[tool]["digest"]}
    return tool, {**more, **others, arg: [value] if arg in LISTS else value}


def literal(stage: Stage, tool: str, arg: str, path: str) -> Seen:
    return stage.run(steps(call(stage, tool, arg, path)))


def by_input(stage: Stage, tool: str, arg: str, path: str) -> Seen:
    return stage.run(steps(call(stage, tool, arg, "${INPUT:place}")), place=path)


def by_contents(stage: Stage, tool: str, arg: str, path: str) -> Seen:
    """The path is what a file says."""
    (stage.folder / "says.txt").write_text(path)
    read = ("read_files", {"path": stage.at("says.txt")})
    return stage.run(steps(read, call(stage, tool, arg, '${step1.entries[0].text ?? "none"}')))


def by_step(stage: Stage, tool: str, arg: str, path: str) -> Seen:
    """The path is a field of an earlier step's row."""
    (stage.folder / "rows.json").write_text(json.dumps([{"path": path}]))
    read = ("read_files_json", {"path": stage.at("rows.json")})
    return stage.run(steps(read, call(stage, tool, arg, '${step1.entries[0].path ?? "none"}')))


def by_item(stage: Stage, tool: str, arg: str, path: str) -> Seen:
    """One item of a loop over what was given."""
    return stage.run(steps(call(stage, tool, arg, "${item}"), for_each="${INPUT:places}"), places=[path])


def by_row(stage: Stage, tool: str, arg: str, path: str) -> Seen:
    """One item of a loop over the rows of a file."""
    (stage.folder / "rows.csv").write_text(f'path,size\n"{path}",1\n')
    read = ("read_files_csv", {"path": stage.at("rows.csv")})
    return stage.run(steps(read, call(stage, tool, arg, '${item.path ?? "none"}'), for_each="${step1.entries[*]}"))


def by_pieces(stage: Stage, tool: str, arg: str, path: str) -> Seen:
    """Put together of two harmless texts."""
    return stage.run(steps(call(stage, tool, arg, "${INPUT:head}${INPUT:tail}")), head=path[:2], tail=path[2:])


def by_from_step(stage: Stage, tool: str, arg: str, path: str) -> Seen:
    """The list of an earlier step, handed on as it is: to whatever parameter the contract names."""
    (stage.folder / "rows.json").write_text(json.dumps([{"path": path, "size": 1}]))
    read = ("read_files_json", {"path": stage.at("rows.json")})
    _, args = call(stage, tool, arg, path)
    return stage.run(steps(read, (tool, {"from_step": 1} | {name: args[name] for name in args if name != arg})))


WAYS: dict[str, Callable[[Stage, str, str, str], Seen]] = {
    "literal": literal, "input": by_input, "contents": by_contents, "step": by_step, "item": by_item, "row": by_row,
    "pieces": by_pieces, "from_step": by_from_step,
}  # fmt: skip

SENTENCES: dict[str, tuple[str, ...]] = {
    "en": (
        "read {path}", "how many files are in {path}", "the five largest files in {path}", "list the folders in {path}",
        "list files in {path} larger than 1 byte", "lines containing nobody in {path}", "checksum of {path}",
        "copy a.txt to {path}", "copy {path} to mine.txt", "move a.txt to {path}", "move {path} to mine.txt",
        "delete {path}", "create the folder {path}", 'write "planted" to {path}', "rename {path} to mine.txt",
        "how large is {path}", "how many lines are in {path}", "save the list of files here to {path}",
    ),
    "it": (
        "leggi {path}", "quanti file ci sono in {path}", "i cinque file più grandi in {path}",
        "copia a.txt in {path}", "copia {path} in mio.txt", "sposta a.txt in {path}", "elimina {path}",
        "crea la cartella {path}", 'scrivi "piantato" in {path}', "rinomina {path} in mio.txt", "quanto è grande {path}",
        "quante righe ci sono in {path}", "le righe che contengono nessuno in {path}",
    ),
}  # fmt: skip


def swap_forever(place: str, target: str, running: Callable[[], bool]) -> int:
    """Let the folder `place` and a link to `target` change names, as fast as it goes; how often."""
    link = f"{place}.link".encode()
    os.symlink(target, link)
    exchange = ctypes.CDLL(None, use_errno=True).renameat2
    times = 0
    while running():
        if exchange(-100, place.encode(), -100, link, 2) != 0:  # AT_FDCWD, RENAME_EXCHANGE
            raise OSError(ctypes.get_errno(), "renameat2")
        times += 1
    if times % 2:
        exchange(-100, place.encode(), -100, link, 2)
    return times
