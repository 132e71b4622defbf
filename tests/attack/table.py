"""What a row of the table of attacks is, and the stage on which it is tried.

Law: a case says how to attack and what must hold; the stage looks at the rest, in the same way for every case: the exit
code, a code with a place and a way out, no traceback, every byte outside the expected change as it was, and a log that
verifies and replays. Homes, folders, workers and processes are real.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from metnos import Engine
from metnos.plan.codes import CODES
from tests.support.forked import TIMED_OUT, Forked, Zygote
from tests.support.terminal import Done

SECRET = "what-nobody-may-read-7f3a"
KINDS: tuple[str, ...] = (
    "unknown tool", "100,000 steps", "deep JSON", "duplicate JSON", "not UTF-8", "unreadable", "vanishing", "swap",
    "escape", "full disk", "regex", "$ref", "tampered", "downgraded", "expired", "output", "NaN", "large integer",
    "odd file", "home", "plan file", "names", "catalog",
)  # fmt: skip
"""Kinds of attack; those up to `large integer` are named by the issue, each must have a case."""
ROWS = (5, 10, 12, 13, 15)
"""Of the fault matrix of `reliability.md`; row 18 has `test_same_bytes.py`."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What came of it."""

    status: int
    document: Any
    """The JSON document: of an error, a turn, a check or a catalog."""
    err: str = ""

    @property
    def text(self) -> str:
        return json.dumps(self.document, ensure_ascii=False)

    def problems(self) -> list[dict[str, Any]]:
        """Every refusal in it, as {code, where, hint}."""
        document = self.document
        found = [document["error"]] if "error" in document else []
        found += document.get("diagnostics", ())
        found += [one["diagnostic"] for name in ("refused", "failed") for one in document.get(name, ())]
        found += [step["error"] for step in document.get("steps", ()) if isinstance(step, dict) and step.get("error")]
        found += [one for one in document.get("findings", ()) if not one["ok"]]
        if not found and document.get("outcome", "success") != "success":
            found = [{"code": document["outcome"], "where": document["detail"], "hint": document["explained"]}]
        return found


@dataclass(frozen=True, kw_only=True)
class Case:
    """One row of the table."""

    row: int
    kind: str
    name: str
    attack: Callable[[Stage], Seen]
    status: int = 1
    code: str = ""
    """Of a refusal that must be among those told; empty: it must end well."""
    where: str = ""
    """What its place must hold."""
    changes: tuple[str, ...] = ()
    """Files below the case's folder that may be other than before."""
    root: bool = False
    """Only root can set it up."""


class Stage:
    """One case's folder, with another beside it that must stay as it is."""

    def __init__(self, shared: Shared, name: str) -> None:
        self.shared = shared
        self.name = name
        self.folder = shared.work / name
        self.outside = shared.base / "outside" / name
        self.home = shared.home
        self.turns: list[str] = []
        self.changed: set[str] = set()
        self.environment: dict[str, str] = {}
        self.plain = False
        self.limits: dict[str, int] = {}
        self.patience = 20.0
        self.here: Engine | None = None
        for made in (self.folder, self.outside):
            made.mkdir(parents=True)
        (self.folder / "a.txt").write_text("alpha\n")
        (self.folder / "b.txt").write_text("beta beta\n")
        (self.outside / "secret.txt").write_text(SECRET)

    def at(self, name: str) -> str:
        """`name` of the case's folder as a plan of the shared engine says it."""
        return f"{self.name}/{name}"

    def run(self, plan: Any, **inputs: Any) -> Seen:
        """Run a plan in the shared engine, which allows whatever is asked: consent is not what must hold."""
        before = self.tree()
        result = self.shared.engine.run_sync(plan=plan, inputs=inputs or None)
        self.unharmed(before)
        return self.seen(result)

    def ask(self, sentence: str, language: str = "en") -> Seen:
        """Say a sentence to an engine that stands in the case's folder."""
        if self.here is None:
            self.here = Engine.open(
                self.home, folder=self.folder, language=language, zone="UTC", approve=lambda _asked: True
            )
            self.shared.opened.append(self.here)
        before = self.tree()
        result = self.here.run_sync(sentence)
        self.unharmed(before)
        return self.seen(result)

    def seen(self, result: Any) -> Seen:
        if result.turn:
            self.turns.append(result.turn)
        return Seen(status=0 if result.ok else 1, document=msgspec.to_builtins(result))

    def metnos(self, *arguments: str | bytes, given: bytes | None = None) -> Done:
        """The command line, in a process of its own."""
        made = Forked(self.shared.zygote, self.folder, self.home)
        made.environment.update(self.environment)
        made.plain, made.limits, made.patience = self.plain, self.limits, self.patience
        return made(*arguments, given=given)

    def cli(self, *arguments: str | bytes, given: bytes | None = None) -> Seen:
        """The same with `--json`, and everything looked at."""
        before = self.tree()
        done = self.metnos("--json", *arguments, given=given)
        self.unharmed(before)
        assert done.status != TIMED_OUT, f"it hangs: {arguments}"
        assert done.status >= 0, f"killed by signal {-done.status}"
        assert "Traceback" not in done.err, done.err
        document = done.json
        if self.home == self.shared.home and document.get("turn"):
            self.turns.append(document["turn"])
        return Seen(status=done.status, document=document, err=done.err)

    def unharmed(self, before: dict[str, str]) -> None:
        """Nothing is lost, changed or new but what the case expects; the trash only grows."""
        now = self.tree()
        for name in before.keys() | now.keys():
            if name not in self.changed and "/.metnos-trash" not in name:
                assert now.get(name) == before.get(name), f"{name}: {before.get(name)} became {now.get(name)}"

    def tree(self) -> dict[str, str]:
        """Every name below both folders, with what it is."""
        return {
            f"{top.parent.name}/{os.path.relpath(path, top)}": fingerprint(path)
            for top in (self.folder, self.outside)
            for path in walk(top)
        }

    def hold(self, case: Case, seen: Seen) -> None:
        """What must hold for every case."""
        assert seen.status == case.status, seen.text
        assert "Traceback" not in seen.err
        assert SECRET not in seen.text
        assert SECRET not in seen.err
        problems = seen.problems()
        assert all(problem.get("code") != "bug" for problem in problems), problems
        if case.code:
            told = [problem for problem in problems if problem.get("code") in case.code.split("|")]
            assert told, problems or seen.text[:600]
            for problem in told:
                assert problem.get("where") or not case.where, problem
                assert any(case.where in str(one.get("where")) for one in told), told
                assert problem.get("hint") or (problem["code"] in CODES and CODES[problem["code"]].hint), problem
        for turn in self.turns:
            held = self.shared.engine.verify(turn)
            assert held.ok, held
            assert self.shared.engine.replay(turn).status == "identical"


def walk(top: Path) -> Iterator[str]:
    """Every path below `top` and itself, links not followed; what cannot be listed is passed over."""
    for folder, folders, files in os.walk(top):
        yield folder
        yield from (os.path.join(folder, name) for name in files)
        yield from (path for name in folders if os.path.islink(path := os.path.join(folder, name)))


def fingerprint(path: str) -> str:
    """Kind, mode, size, and the digest of a file that is not enormous."""
    found = os.lstat(path)
    said = f"{stat.filemode(found.st_mode)}"
    if stat.S_ISLNK(found.st_mode):
        return f"{said} {os.readlink(path)}"
    if not stat.S_ISREG(found.st_mode):
        return said
    if found.st_size > 1 << 24:
        return f"{said} {found.st_size}"
    with open(path, "rb") as file:
        return f"{said} {hashlib.sha256(file.read()).hexdigest()}"


class Shared:
    """What all cases use: one home with its engine, one warm process."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.work = base / "work"
        self.work.mkdir()
        self.home = base / "home"
        self.zygote = Zygote()
        self.engine = Engine.open(self.home, folder=self.work, zone="UTC", language="en", approve=lambda _asked: True)
        self.opened = [self.engine]
        self.extra: dict[str, Engine] = {}

    def close(self) -> None:
        for engine in self.opened:
            engine.close()
        self.zygote.close()


def steps(*calls: tuple[str, dict[str, Any]], end: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A plan of these calls; `more` goes into the last of them."""
    made: list[dict[str, Any]] = [{"tool": tool, "args": args} for tool, args in calls]
    made[-1] |= more
    return {"steps": [*made, {"tool": "final_answer", "args": end or {}}]}
