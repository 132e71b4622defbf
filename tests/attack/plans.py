"""Row 13 and plan files: what is too deep, too many, twice, no number, no text, or no tool."""

from __future__ import annotations

import json
import os
import socket
from typing import TYPE_CHECKING

from tests.attack.table import Case, Seen, Stage, steps

if TYPE_CHECKING:
    from collections.abc import Callable

COUNT = steps(("find_files", {}), end={"text": "${step1.count}"})


def plan_of(data: bytes | str, command: str = "run") -> Callable[[Stage], Seen]:
    """A plan file of these bytes."""

    def attack(stage: Stage) -> Seen:
        (stage.folder / "p.json").write_bytes(data if isinstance(data, bytes) else data.encode())
        return stage.cli(command, "p.json")

    return attack


def given(data: bytes) -> Callable[[Stage], Seen]:
    return lambda stage: stage.cli("run", "-", given=data)


def args_of(text: str, tool: str = "find_files") -> str:
    """A plan whose one step has the arguments spelled so."""
    return f'{{"steps": [{{"tool": "{tool}", "args": {text}}}, {{"tool": "final_answer", "args": {{}}}}]}}'


def _place(make: Callable[[str], None], *command: str) -> Callable[[Stage], Seen]:
    """A plan "file" that is something else."""

    def attack(stage: Stage) -> Seen:
        make(str(stage.folder / "p.json"))
        return stage.cli(*(command or ("run", "p.json")))

    return attack


def _sparse(path: str) -> None:
    with open(path, "wb") as file:
        file.truncate(1 << 40)


def _socket(path: str) -> None:
    here = os.getcwd()
    os.chdir(os.path.dirname(path))
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.basename(path))
    os.chdir(here)


def _sentence(text: str | bytes) -> Callable[[Stage], Seen]:
    return lambda stage: stage.cli("ask", text)


LONG = "x" * 100_000
CASES: tuple[Case, ...] = (
    Case(row=13, kind="unknown tool", name="a tool that is not there", code="unknown-tool", where="/steps/0/tool",
         attack=plan_of(json.dumps(steps(("launch_missiles", {}))))),
    Case(row=13, kind="unknown tool", name="a name that only looks like a tool", code="bad-name", where="/steps/0",
         attack=plan_of(json.dumps(steps(("find_fi\u200bles", {})), ensure_ascii=False))),
    Case(row=13, kind="unknown tool", name="full-width letters", code="bad-name", where="/steps/0",
         attack=plan_of(json.dumps(steps(("ｆind_files", {})), ensure_ascii=False))),
    Case(row=13, kind="unknown tool", name="a name that turns the text", code="bad-name", where="/steps/0",
         attack=plan_of(json.dumps(steps(("\u202eselif_dnif", {}))))),
    Case(row=13, kind="unknown tool", name="a tool of an empty name", code="bad-name", where="/steps/0",
         attack=plan_of(json.dumps(steps(("", {}))))),
    Case(row=13, kind="100,000 steps", name="100,000 steps in 5 MB", code="too-large",
         attack=plan_of(json.dumps(steps(*[("find_files", {})] * 100_000)))),
    Case(row=13, kind="100,000 steps", name="100,000 lines of notation", code="too-large",
         attack=plan_of("".join(f"{n} find_files\n" for n in range(1, 100_001)) + "end\n")),
    Case(row=13, kind="100,000 steps", name="as many as the bytes hold", code="too-many-steps", where="/steps",
         attack=plan_of('{"steps":[' + ",".join(['{"tool":"a","args":{}}'] * 10_000) + "]}")),
    Case(row=13, kind="100,000 steps", name="for_each over 20,000", code="too-many-items",
         attack=plan_of(json.dumps(steps(("read_files", {"path": "${item}"}), for_each=["a.txt"] * 20_000)))),
    Case(row=13, kind="deep JSON", name="100,000 brackets", code="too-deep", attack=plan_of("[" * 100_000)),
    Case(row=13, kind="deep JSON", name="100,000 objects, closed", code="too-deep",
         attack=plan_of('{"a":' * 20_000 + "1" + "}" * 20_000)),
    Case(row=13, kind="deep JSON", name="deep in an argument", code="too-deep",
         attack=plan_of(args_of('{"x": ' + "[" * 200 + "]" * 200 + "}"))),
    Case(row=13, kind="deep JSON", name="deep in notation", code="too-deep",
         attack=plan_of("1 find_files path=" + "[" * 50_000 + "\nend\n")),
    Case(row=13, kind="deep JSON", name="deep in an input", code="type-mismatch",
         attack=lambda stage: _with_input(stage, "[" * 90_000 + "]" * 90_000)),
    Case(row=13, kind="duplicate JSON", name="a key twice", code="duplicate-key", where="/steps/0/args",
         attack=plan_of(args_of('{"path": ".", "path": "/"}'))),
    Case(row=13, kind="duplicate JSON", name="a key twice, once escaped", code="duplicate-key", where="/steps/0/args",
         attack=plan_of(args_of('{"path": ".", "p\\u0061th": "/"}'))),
    Case(row=13, kind="duplicate JSON", name="an argument twice in notation", code="line-syntax",
         attack=plan_of('1 find_files path="." path="/"\nend\n')),
    Case(row=13, kind="duplicate JSON", name="a million keys", code="too-large",
         attack=plan_of(args_of("{" + ",".join(f'"{n}":0' for n in range(1_000_000)) + "}"))),
    Case(row=13, kind="NaN", name="NaN in a plan", code="not-a-number", where="/steps/0/args/limit",
         attack=plan_of(args_of('{"limit": NaN}'))),
    Case(row=13, kind="NaN", name="-Infinity in a plan", code="not-a-number", attack=plan_of(args_of('{"limit": -Infinity}'))),
    Case(row=13, kind="NaN", name="1e400 in a plan", code="not-a-number", attack=plan_of(args_of('{"limit": 1e400}'))),
    Case(row=13, kind="NaN", name="NaN as an input", code="type-mismatch", attack=lambda stage: _with_input(stage, "NaN")),
    Case(row=13, kind="large integer", name="30 digits in a plan", code="integer-range", where="/steps/0/args/limit",
         attack=plan_of(args_of('{"limit": ' + "9" * 30 + "}"))),
    Case(row=13, kind="large integer", name="5,000 digits", code="integer-range",
         attack=plan_of(args_of('{"limit": ' + "9" * 5000 + "}"))),
    Case(row=13, kind="large integer", name="2^53 in notation", code="line-syntax",
         attack=plan_of(f"1 find_files limit={2**53}\nend\n")),
    Case(row=13, kind="large integer", name="30 digits as an input", code="type-mismatch",
         attack=lambda stage: _with_input(stage, "9" * 30)),
    Case(row=13, kind="not UTF-8", name="bytes that are no text", code="not-utf8", attack=plan_of(bytes(range(256)))),
    Case(row=13, kind="not UTF-8", name="UTF-16", code="not-utf8", attack=plan_of(json.dumps(COUNT).encode("utf-16"))),
    Case(row=13, kind="not UTF-8", name="half of a pair", code="lone-surrogate", attack=plan_of(args_of('{"path": "\\ud800"}'))),
    Case(row=13, kind="not UTF-8", name="a sentence of bytes", code="not-utf8", status=2, attack=_sentence(b"how many \xff")),
    Case(row=13, kind="not UTF-8", name="a plan's name of bytes", code="unreadable-plan", status=2, where="\ufffd",
         attack=lambda stage: stage.cli("run", b"none-\xff\xfe.json")),
    Case(row=13, kind="not UTF-8", name="a home's name of bytes, a turn's name of bytes", code="turn-missing", status=2,
         attack=lambda stage: stage.cli("log", b"\xff\xfe")),
    Case(row=13, kind="plan file", name="/dev/zero", code="too-large", attack=lambda stage: stage.cli("run", "/dev/zero")),
    Case(row=13, kind="plan file", name="a terabyte of nothing", code="too-large", attack=_place(_sparse)),
    Case(row=13, kind="plan file", name="a pipe that nobody writes", code="terminal-missing", attack=_place(os.mkfifo)),
    Case(row=13, kind="plan file", name="a socket", status=2, code="unreadable-plan", where="p.json", attack=_place(_socket)),
    Case(row=13, kind="plan file", name="a folder", status=2, code="usage", attack=_place(os.mkdir)),
    Case(row=13, kind="plan file", name="a link to itself", status=2, code="unreadable-plan", where="p.json",
         attack=_place(lambda path: os.symlink("p.json", path))),
    Case(row=13, kind="plan file", name="a name that is too long", status=2, code="unreadable-plan", where="xxx",
         attack=lambda stage: stage.cli("run", "x" * 300)),
    Case(row=13, kind="plan file", name="endless on stdin", code="too-large", attack=given(b" " * 3_000_000)),
    Case(row=13, kind="plan file", name="nothing on stdin", code="terminal-missing", attack=given(b"")),
    Case(row=13, kind="plan file", name="NUL in notation", code="bad-name", attack=plan_of("1 find_files\0\nend\n")),
    Case(row=13, kind="plan file", name="a sentence of 100,000 letters", status=2, code="request-too-long", where="request", attack=_sentence(LONG)),
    Case(row=13, kind="plan file", name="a sentence of combining marks", code="not_understood",
         attack=_sentence("how many files" + "\u0301" * 20_000)),
    Case(row=13, kind="plan file", name="a sentence of NUL escapes", code="not_understood", attack=_sentence("\x01\x02\x1b[2J")),
    Case(row=13, kind="regex", name="(a+)+$ is looked for", status=0, attack=lambda stage: _regex(stage, "(a+)+$")),
    Case(row=13, kind="regex", name="a bomb of repetitions", code="bad-pattern", where="pattern",
         attack=lambda stage: _regex(stage, "((a{100}){100}){100}")),
    Case(row=13, kind="regex", name="a reference back", code="bad-pattern", attack=lambda stage: _regex(stage, r"(a)\1")),
    Case(row=13, kind="regex", name="a glob of forty stars", status=0,
         attack=lambda stage: stage.run(steps(("find_files", {"path": stage.name, "pattern": "*a" * 40 + "b"})))),
)  # fmt: skip


def _with_input(stage: Stage, text: str) -> Seen:
    (stage.folder / "p.json").write_text(json.dumps(steps(("find_files", {"limit": "${INPUT:n}"}))))
    return stage.cli("run", "p.json", "--input", f"n={text}")


def _regex(stage: Stage, pattern: str) -> Seen:
    (stage.folder / "long.txt").write_text("a" * 100_000 + "!\n")
    return stage.run(steps(("find_texts", {"path": stage.at("long.txt"), "pattern": pattern, "syntax": "regex"})))
