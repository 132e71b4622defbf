"""Row 12: an executor whose result is a lie, endless, enormous, or no data; in a real worker, under a real contract."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from metnos import Engine
from tests.attack.table import Case, Seen, Stage, steps
from tests.support.signing import key

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST = """
name = "find_files_evil"
version = "1.0.0"
placement = "worker"
families = ["find files"]
files = ["executor.py"]
resources = []

[descriptions]
en = "Misbehaves."
it = "Si comporta male."

[[effect]]
class = "read"

[limits]
timeout_s = 1
output_bytes = 65536

[args]
type = "object"
additionalProperties = false
required = ["how"]

[args.properties.how]
type = "string"
minLength = 1
maxLength = 40
description = "In which way."

[result]
type = "object"
additionalProperties = false
required = ["number", "text"]

[result.properties]
number = { type = "number" }
text = { type = "string" }
"""
WAYS: dict[str, tuple[str, str]] = {
    "endless output": ("while True: print('y' * 4096)", "step-timeout"),
    "endless progress": ("while True: ctx.progress(1)", "step-timeout"),
    "endless thought": ("while True: pass", "step-timeout"),
    "endless sleep": ("import time; time.sleep(3600)", "step-timeout"),
    "an oversized text": ("return ok(text='x' * 200_000)", "too-large"),
    "a gigabyte": ("return ok(text='x' * (1 << 30))", "too-large|memory-limit"),
    "a million keys": ("return {str(n): n for n in range(200_000)}", "too-large|step-timeout"),
    "too deep": ("d = []\n    for _ in range(5000): d = [d]\n    return ok(text=d)", "too-deep|not-json"),
    "NaN": ("return ok(number=float('nan'))", "not-a-number"),
    "Infinity": ("return ok(number=float('1e400'))", "not-a-number"),
    "30 digits": ("return ok(number=10 ** 29)", "integer-range"),
    "an integer of 5,000 digits": ("return ok(number=10 ** 5000)", "integer-range|result-malformed"),
    "half of a pair": ("return ok(text='\\ud800')", "lone-surrogate"),
    "bytes": ("return ok(text=b'\\xff')", "not-json"),
    "itself": ("d = {}\n    d['text'] = d\n    return d", "too-deep|not-json"),
    "nothing": ("return None", "result-schema"),
    "another form": ("return {'number': 'one', 'text': 1}", "result-schema"),
    "one field too many": ("return {**ok(), 'more': 1}", "result-schema"),
    "no result": ("return object()", "not-json|result-malformed"),
    "an exception of a megabyte": ("raise ValueError('\\x1b[2J' + 'x' * 1_000_000)", "executor-raised"),
    "an exit": ("import os; os._exit(0)", "worker-crashed"),
    "a polite exit": ("raise SystemExit(0)", "executor-raised|worker-crashed"),
    "a signal": ("import os; os.kill(os.getpid(), 11)", "worker-crashed"),
    "recursion": ("return run(args, ctx)", "executor-raised|worker-crashed"),
    "noise on every descriptor": (
        "import os\n    for n in range(3, 64):\n        try: os.write(n, b'\\xff' * 4096)\n        except OSError: pass\n    return ok()",
        "worker-garbage|worker-crashed|step-timeout|result-malformed",
    ),
}
"""Way → (body of its branch, the codes it may have)."""
KIND = {"NaN": "NaN", "Infinity": "NaN", "30 digits": "large integer", "an integer of 5,000 digits": "large integer"}


def _code() -> str:
    lines = ["from metnos.sdk import Result", "def ok(number=1, text=''): return {'number': number, 'text': text}"]
    for number, (body, _) in enumerate(WAYS.values()):
        lines += [f"def way{number}(args, ctx, run):", f"    {body}"]
    names = ", ".join(f"{name!r}: way{number}" for number, name in enumerate(WAYS))
    lines += [f"WAYS = {{{names}}}", "def run(args, ctx): return WAYS[args['how']](args, ctx, run)", ""]
    return "\n".join(lines)


def _engine(stage: Stage) -> Engine:
    """One for all of these cases, on the shared home, with a catalog of this executor."""
    there = stage.shared.extra.get("evils")
    if there is None:
        from metnos.contracts.build import Signer, build

        base: Path = stage.shared.base / "evils"
        for folder in ("manifests", "catalog/executors/find_files_evil"):
            (base / folder).mkdir(parents=True)
        (base / "manifests" / "find_files_evil.toml").write_text(MANIFEST)
        (base / "catalog" / "executors" / "find_files_evil" / "executor.py").write_text(_code())
        build(base, base / "out", Signer(key=key(7), development=True))
        shutil.rmtree(base / "catalog")
        there = stage.shared.extra["evils"] = Engine.open(
            stage.home, folder=stage.shared.work, catalog=base / "out", zone="UTC", language="en"
        )
        stage.shared.opened.append(there)
    return there


def _attack(way: str) -> Callable[[Stage], Seen]:
    def attack(stage: Stage) -> Seen:
        engine = _engine(stage)
        before = stage.tree()
        result = engine.run_sync(plan=steps(("find_files_evil", {"how": way}), end={"text": "${step1.text}"}))
        after = engine.run_sync(plan=steps(("find_files_evil", {"how": "another form"})))
        assert after.steps[0].error is not None, "the next step finds a worker as before"
        assert after.steps[0].error.code == "result-schema"
        stage.unharmed(before)
        codes = WAYS[way][1].split("|")
        document = msgspec.to_builtins(result)
        error = document["steps"][0]["error"]
        assert error["code"] in codes, error
        assert len(str(document)) < 20_000, "what is told of it is short"
        assert engine.verify(result.turn).ok
        assert engine.replay(result.turn).status == "identical"
        error["code"] = codes[0]
        return Seen(status=0 if result.ok else 1, document=document)

    return attack


CASES: tuple[Case, ...] = tuple(
    Case(row=12, kind=KIND.get(way, "output"), name=way, code=codes.split("|")[0], attack=_attack(way))
    for way, (_, codes) in WAYS.items()
)
