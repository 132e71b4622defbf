"""Row 15 beside the escapes: odd files, names, links and races in the granted folder itself; and what a home may hold."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict

import msgspec

from metnos import Context, Engine, executor
from tests.attack.paths import swap_forever
from tests.attack.table import SECRET, Case, Seen, Stage, steps

if TYPE_CHECKING:
    from pathlib import Path


class Taken(TypedDict):
    taken: str


def read(name: str) -> Callable[[Stage], Seen]:
    return lambda stage: stage.run(steps(("read_files", {"path": stage.at(name)})))


def after(make: Callable[[Path], Any], attack: Callable[[Stage], Seen]) -> Callable[[Stage], Seen]:
    """The folder is prepared first."""

    def prepared(stage: Stage) -> Seen:
        make(stage.folder)
        return attack(stage)

    return prepared


def call(tool: str, **args: Any) -> Callable[[Stage], Seen]:
    """One call; `@name` is `name` of the case's folder."""

    def attack(stage: Stage) -> Seen:
        said = {name: stage.at(value[1:]) if str(value).startswith("@") else value for name, value in args.items()}
        return stage.run(steps((tool, said)))

    return attack


def _socket(folder: Path) -> None:
    here = os.getcwd()
    os.chdir(folder)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("odd")
    os.chdir(here)


def _sparse(folder: Path) -> None:
    with (folder / "odd").open("wb") as file:
        file.truncate(1 << 40)


def _deep(folder: Path) -> None:
    here = os.open(folder, os.O_RDONLY)
    for _ in range(250):
        os.mkdir("d", dir_fd=here)
        deeper = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)


def _undeep(folder: Path) -> None:
    """Take it down again: no tool of the standard library goes so deep by path."""
    for _ in range(250):
        if not (folder / "d" / "d").exists():
            break
        (folder / "d" / "d").rename(folder / "e")
        (folder / "d").rmdir()
        (folder / "e").rename(folder / "d")


def deep(stage: Stage) -> Seen:
    _deep(stage.folder)
    result = stage.shared.engine.run_sync(plan=steps(("find_files", {"path": stage.name}), end={"data": "${step1}"}))
    _undeep(stage.folder)
    assert "too-deep" in str(result.notes) + str(result.steps) + result.answer or result.notes, result
    return stage.seen(result)


def odd_names(stage: Stage) -> Seen:
    """Names that are no text, with line ends, control characters, turned; all of them are found, and one is copied."""
    for name in (
        b"\xff\xfe",
        b"new\nline",
        b"\x1b[2Jclear",
        "\u202etxt.exe".encode(),
        b"-rf",
        b"$(id)",
        b"${step1}",
        b"a\tb",
    ):
        (stage.folder / os.fsdecode(name)).write_text("x")
    seen = stage.run(steps(("find_files", {"path": stage.name}), end={"data": "${step1.count}"}))
    assert seen.document["data"] == 10, seen.text
    stage.changed.update({"work/copied.txt", "work/."})
    return stage.run(
        steps(
            ("find_files", {"path": stage.name, "pattern": "a.txt"}),
            ("copy_files", {"from_step": 1, "to": stage.at("copied.txt")}),
        )
    )


def on_a_terminal(stage: Stage) -> Seen:
    """What a name holds cannot drive the terminal of who lists it."""
    (stage.folder / "x\x1b]0;owned\x07\x1b[2J.txt").write_text("x")
    from tests.support.terminal import Metnos

    before = stage.tree()
    there = Metnos(stage.folder, stage.home).on_terminal("ask", "list all files here")
    status = there.end()
    stage.unharmed(before)
    assert "\x1b]0;owned" not in there.screen
    assert "\x1b[2J" not in there.screen
    assert "owned" in there.screen
    return Seen(status=status, document={})


def clash(stage: Stage) -> Seen:
    """Two names that differ by case only are two files."""
    stage.changed.update({"work/A.TXT", "work/."})
    seen = stage.run(steps(("write_files", {"path": stage.at("A.TXT"), "content": "capital"})))
    assert (stage.folder / "a.txt").read_text() == "alpha\n" or not seen.status
    return seen


def hard_link(stage: Stage) -> Seen:
    """The file behind a hard link is in the folder; writing replaces the name, and never what is shared."""
    (stage.outside / "shared.txt").write_text("outside\n")
    os.link(stage.outside / "shared.txt", stage.folder / "linked.txt")
    stage.changed.update({"work/linked.txt", "work/."})
    seen = stage.run(steps(("write_files", {"path": stage.at("linked.txt"), "content": "mine", "overwrite": True})))
    assert (stage.outside / "shared.txt").read_text() == "outside\n"
    assert (stage.folder / "linked.txt").read_text() == "mine"
    return seen


def vanishing(tool: str, **args: Any) -> Callable[[Stage], Seen]:
    """A file is found by step 1, gone when step 3 wants it: a function of the host removes it in between."""

    def attack(stage: Stage) -> Seen:
        (stage.folder / "victim.txt").write_text("soon gone")
        stage.changed.update({"work/victim.txt", "work/."})

        @executor(version="1.0.0", effect="read", description="Takes a file away.", resources=())
        def find_thief(ctx: Context, entries: list[dict[str, Any]]) -> Taken:
            (stage.folder / entries[0]["name"]).unlink()
            return {"taken": stage.at(entries[0]["name"])}

        with Engine.open(
            stage.home, folder=stage.shared.work, executors=[find_thief], zone="UTC", approve=lambda _asked: True
        ) as engine:
            before = stage.tree()
            result = engine.run_sync(plan=steps(
                ("find_files", {"path": stage.name, "pattern": "victim.txt"}),
                ("find_thief", {"entries": "${step1.entries}"}),
                (tool, {**{name: stage.at(one) for name, one in args.items()}, "path": "${step2.taken}"}),
            ))  # fmt: skip
            stage.unharmed(before)
            assert engine.verify(result.turn).ok
            assert engine.replay(result.turn).status == "identical"
        return Seen(status=1, document=msgspec.to_builtins(result))

    return attack


def swapped(tool: str, **args: Any) -> Callable[[Stage], Seen]:
    """A folder on the way is a link to the outside, and a folder again, a thousand times a second, while it is used."""

    def attack(stage: Stage) -> Seen:
        (stage.folder / "sub").mkdir()
        (stage.folder / "sub" / "secret.txt").write_text("inside\n")
        (stage.outside / "made").mkdir()
        stop = threading.Event()
        place = str(stage.folder / "sub")
        racing = threading.Thread(
            target=swap_forever, args=(place, str(stage.outside), lambda: not stop.is_set()), daemon=True
        )
        before = {
            name: what for name, what in stage.tree().items() if name.startswith("outside/") or name.endswith(SECRET)
        }
        outside = [str(path) for path in stage.outside.rglob("*")]
        racing.start()
        seen: list[Seen] = []
        for _ in range(25):
            said = {name: stage.at(one[1:]) if str(one).startswith("@") else one for name, one in args.items()}
            seen.append(stage.seen(stage.shared.engine.run_sync(plan=steps((tool, said)))))
        stop.set()
        racing.join()
        stage.turns = stage.turns[-1:]
        now = stage.tree()
        assert {name: now.get(name) for name in before} == before
        assert [str(path) for path in stage.outside.rglob("*")] == outside
        for one in seen:
            assert SECRET not in one.text
            codes = {problem["code"] for problem in one.problems()}
            assert codes <= {"symlink", "not-a-folder", "not-found", "outside-roots", "changed-since", "exists"}, codes
        return Seen(status=0, document={})

    return attack


def changing(stage: Stage) -> Seen:
    """A file grows while its digest is computed: it is told as it was at one time, or that it changed."""
    stop = threading.Event()
    (stage.folder / "grows.bin").write_bytes(b"x" * (1 << 24))
    stage.changed.add("work/grows.bin")

    def grow() -> None:
        with (stage.folder / "grows.bin").open("ab") as file:
            while not stop.is_set():
                file.write(b"y" * 4096)
                file.flush()
                stop.wait(0.001)

    growing = threading.Thread(target=grow, daemon=True)
    growing.start()
    try:
        seen = stage.run(steps(("compute_files_hash", {"path": stage.at("grows.bin")})))
    finally:
        stop.set()
        growing.join()
    assert seen.status == 0 or "changed" in seen.text, seen.text
    return Seen(status=0, document={})


def as_nobody(prepare: Callable[[Stage], None], *arguments: str) -> Callable[[Stage], Seen]:
    """By the command line, as an ordinary user, whom permissions hold."""

    def attack(stage: Stage) -> Seen:
        stage.home = stage.shared.base / "nobody" / stage.name
        stage.home.mkdir(parents=True, mode=0o700)
        prepare(stage)
        stage.plain = True
        try:
            return stage.cli(*arguments)
        finally:
            for path in (stage.home, stage.folder, stage.folder / "closed"):
                if path.exists():
                    path.chmod(0o700)

    return attack


def _closed(stage: Stage) -> None:
    (stage.folder / "closed").mkdir()
    (stage.folder / "closed" / "hidden.txt").write_text(SECRET)
    (stage.folder / "closed").chmod(0)


def _closed_file(stage: Stage) -> None:
    (stage.folder / "closed.txt").write_text(SECRET)
    (stage.folder / "closed.txt").chmod(0)


def _fixed(stage: Stage) -> None:
    stage.folder.chmod(0o555)


def _closed_home(stage: Stage) -> None:
    stage.home.chmod(0)


def _fixed_home(stage: Stage) -> None:
    stage.home.chmod(0o500)


def _odd(
    name: str, code: str, make: Callable[[Path], Any], attack: Callable[[Stage], Seen] | None = None, **more: Any
) -> Case:
    return Case(row=15, kind="odd file", name=name, code=code, attack=after(make, attack or read("odd")), **more)


CASES: tuple[Case, ...] = (
    _odd("a pipe is read", "not-a-file", lambda folder: os.mkfifo(folder / "odd"), where="/path"),
    _odd("a socket is read", "not-a-file", _socket, where="/path"),
    _odd("a folder is read", "is-a-folder", lambda folder: (folder / "odd").mkdir(), where="/path"),
    _odd("a link to itself is read", "symlink", lambda folder: (folder / "odd").symlink_to("odd"), where="/path"),
    _odd("a link to nowhere is read", "symlink", lambda folder: (folder / "odd").symlink_to("nowhere"), where="/path"),
    _odd("a device is read", "symlink", lambda folder: (folder / "odd").symlink_to("/dev/zero"), where="/path"),
    _odd("a device of its own is read", "not-a-file", lambda folder: os.mknod(folder / "odd", 0o020666, os.makedev(1, 5)), root=True),
    _odd("a pipe is written over", "not-a-file", lambda folder: os.mkfifo(folder / "odd"), call("write_files", path="@odd", content="x", overwrite=True)),
    _odd("a pipe is copied", "not-a-file", lambda folder: os.mkfifo(folder / "odd"), call("copy_files", path="@odd", to="@new")),
    _odd("a link is deleted", "symlink", lambda folder: (folder / "odd").symlink_to("a.txt"), call("delete_files", path="@odd")),
    _odd("a link is written over", "symlink", lambda folder: (folder / "odd").symlink_to("a.txt"), call("write_files", path="@odd", content="x", overwrite=True)),
    _odd("a terabyte is read", "not-text", _sparse, where="/path"),
    _odd("a terabyte is searched", "", _sparse, call("find_texts", path="@odd", pattern="x"), status=0),
    _odd("a terabyte is not written over unasked", "", _sparse, call("write_files", path="@odd", content="x")),
    _odd("a pipe among the searched", "", lambda folder: os.mkfifo(folder / "odd"), lambda stage: stage.run(steps(("find_texts", {"path": stage.name, "pattern": "alpha"}))), status=0),
    Case(row=15, kind="escape", name="NUL in a path", code="bad-path", where="/path", attack=read("a.txt\0.md")),
    Case(row=15, kind="escape", name="a home by a tilde is a name like any", code="not-found", where="/path", attack=read("~/.ssh/id_rsa")),
    Case(row=15, kind="escape", name="/proc/self/environ", code="outside-roots", attack=call("read_files", path="/proc/self/environ")),
    Case(row=15, kind="escape", name="the trash is written", code="in-trash", attack=call("write_files", path=".metnos-trash/x", content="x")),
    Case(row=15, kind="escape", name="a folder into itself", code="is-a-folder", attack=after(lambda folder: (folder / "sub").mkdir(), call("move_files", path="@sub", to="@sub/sub"))),
    Case(row=15, kind="names", name="a path of 5,000 letters", code="value-misfit|name-too-long", attack=lambda stage: stage.run(steps(("read_files", {"path": "${INPUT:p}"})), p="x/" * 2040)),
    Case(row=15, kind="names", name="a name of 300 letters", code="name-too-long", where="/path", attack=read("x" * 300)),
    Case(row=15, kind="names", name="a new name of 300 letters", code="name-too-long", where="/path", attack=call("write_files", path="@" + "x" * 300, content="x")),
    Case(row=15, kind="names", name="a tree of 250 folders", status=0, attack=deep),
    Case(row=15, kind="names", name="names that are no text, or drive a terminal", status=0, attack=odd_names),
    Case(row=15, kind="names", name="a name on a terminal", status=0, attack=on_a_terminal),
    Case(row=15, kind="names", name="names that differ by case", status=0, attack=clash),
    Case(row=15, kind="names", name="a hard link to the outside", status=0, attack=hard_link),
    Case(row=15, kind="vanishing", name="before it is read", code="not-found", where="/path", attack=vanishing("read_files")),
    Case(row=15, kind="vanishing", name="before it is copied", code="not-found", attack=vanishing("copy_files", to="copied.txt")),
    Case(row=15, kind="vanishing", name="before it is deleted", code="not-found", attack=vanishing("delete_files")),
    Case(row=15, kind="vanishing", name="it changes while it is read", status=0, attack=changing),
    Case(row=15, kind="swap", name="while it is read", status=0, attack=swapped("read_files", path="@sub/secret.txt")),
    Case(row=15, kind="swap", name="while it is written", status=0, attack=swapped("write_files", path="@sub/secret.txt", content="x", overwrite=True)),
    Case(row=15, kind="swap", name="while it is searched", status=0, attack=swapped("find_texts", path="@", pattern="what-nobody")),
    Case(row=15, kind="swap", name="while a folder is made in it", status=0, attack=swapped("create_dirs", path="@sub/made/more")),
    Case(row=15, kind="unreadable", name="a folder is listed", code="no-permission", attack=as_nobody(_closed, "ask", "list all files in closed")),
    Case(row=15, kind="unreadable", name="a folder among others", status=0, attack=as_nobody(_closed, "ask", "how many files are here")),
    Case(row=15, kind="unreadable", name="a file is read", code="no-permission", attack=as_nobody(_closed_file, "ask", "read closed.txt")),
    Case(row=15, kind="unreadable", name="a folder that is not one's own is written", code="no-permission", attack=as_nobody(_fixed, "ask", "--yes", 'write "x" to new.txt')),
    Case(row=5, kind="home", name="a home that is another's", status=2, code="bad-settings", attack=as_nobody(_closed_home, "ask", "how many files are here")),
    Case(row=5, kind="home", name="a home that cannot be written", status=3, code="record-store", attack=as_nobody(_fixed_home, "ask", "how many files are here")),
)  # fmt: skip
