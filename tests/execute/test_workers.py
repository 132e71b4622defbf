"""Worker processes: whatever an executor does, the step has one typed outcome and the parent lives on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from metnos.execute import wire
from metnos.execute.process import spawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.execute.conftest import World

ECHO = "from metnos.sdk import Result\ndef run(args, ctx):\n    return Result.done(args)\n"


def error_of(outcome: Any) -> tuple[str, str]:
    assert outcome.status == "failed", outcome
    return outcome.error.cls, outcome.error.code


def is_gone(pid: int) -> bool:
    """Neither running nor left unreaped by this process."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state in "ZX" and os.getpid() != int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def wait_until(holds: Callable[[], bool]) -> None:
    """Until it holds; the test's own timeout is the limit."""
    pause = threading.Event()
    while not holds():
        pause.wait(0.01)


def test_a_call_and_a_second_one_in_the_same_process(world: World) -> None:
    name = world.executor("import os\ndef run(args, ctx):\n    return {'pid': os.getpid()}\n")
    first, second = world.once(name), world.once(name)
    assert first.status == "finished"
    assert first.data == second.data
    assert first.data["pid"] != os.getpid()
    assert first.digest.startswith("sha256:")


def test_the_bytes_sent_are_the_bytes_run_and_no_file_is_read(world: World, tmp_path: Path) -> None:
    name = world.executor("def run(args, ctx):\n    return __file__\n")
    assert world.once(name).data == f"<{name}/executor.py>"


def test_own_files_may_import_each_other_and_nothing_undeclared(world: World) -> None:
    good = world.executor(
        {
            "executor.py": "from . import other\nfrom .other import two\ndef run(a, c):\n    return other.two + two\n",
            "other.py": "two = 2\n",
        }
    )
    assert world.once(good).data == 4
    for line in (
        "import re2",
        "import orjson",
        "import metnos.execute.roots",
        "from metnos import sdk",
        "from .. import x",
    ):
        bad = world.executor(f"{line}\ndef run(a, c):\n    return 1\n")
        outcome = world.once(bad)
        assert error_of(outcome) == ("internal", "executor-broken")
        assert outcome.error is not None
        assert "NotDeclared" in outcome.error.message


def test_a_declared_distribution_may_be_imported(world: World) -> None:
    name = world.executor(
        "import re2\ndef run(a, c):\n    return bool(re2.search('a+', 'caat'))\n", distributions=("google-re2>=1.1",)
    )
    assert world.once(name).data is True


@pytest.mark.parametrize("source", ["def run(", "1/0", "x = 1", ""])
def test_code_that_cannot_be_loaded(world: World, source: str) -> None:
    name = world.executor(source)
    assert error_of(world.once(name)) == ("internal", "executor-broken")
    assert error_of(world.once(name)) == ("internal", "executor-broken")


def test_an_exception_is_typed_and_the_worker_stays(world: World) -> None:
    name = world.executor(
        "import os\ndef run(a, c):\n    if a: raise ValueError('no ' + a['x'])\n    return os.getpid()\n"
    )
    pid = world.once(name).data
    outcome = world.once(name, {"x": "good"})
    assert error_of(outcome) == ("internal", "executor-raised")
    assert outcome.error is not None
    assert outcome.error.message == "ValueError: no good"
    assert world.once(name).data == pid


@pytest.mark.parametrize(
    ("death", "said"),
    [
        ("os._exit(7)", "exit status 7"),
        ("os.kill(os.getpid(), 11)", "SIGSEGV"),
        ("os.kill(os.getpid(), 9)", "SIGKILL"),
        ("os.abort()", "SIGABRT"),
    ],
)
def test_a_death_is_a_crash_with_its_cause_and_last_words(world: World, death: str, said: str) -> None:
    name = world.executor(
        f"import os, sys\ndef run(a, c):\n    print('first'); print('last words', file=sys.stderr, flush=True)\n    {death}\n"
    )
    outcome = world.once(name)
    assert error_of(outcome) == ("crashed", "worker-crashed")
    assert outcome.error is not None
    assert said in outcome.error.message
    assert outcome.error.message.endswith(": last words")
    assert world.once(world.executor(ECHO), {"a": 1}).data == {"a": 1}


def test_printing_does_not_touch_the_frames(world: World) -> None:
    name = world.executor(
        "import os, subprocess, sys\ndef run(a, c):\n    print('x' * 300000)\n    os.write(1, b'raw' * 50000)\n"
        "    subprocess.run([sys.executable, '-c', 'print(5)'], check=True)\n    return sys.stdin.read()\n"
    )
    assert world.once(name).data == ""


@pytest.mark.parametrize("flood", ["while True: print('y' * 1000)", "while True: c.progress(1)", "while True: pass"])
def test_endless_work_ends_at_the_deadline(world: World, flood: str) -> None:
    name = world.executor(f"def run(a, c):\n    {flood}\n")
    outcome = world.once(name, timeout_s=0.3)
    assert error_of(outcome) == ("timeout", "step-timeout")


def test_a_worker_that_ignores_the_request_to_stop_is_killed(world: World) -> None:
    name = world.executor(
        "import signal, os\ndef run(a, c):\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "    c.progress(os.getpid(), None, 'here')\n    while True: pass\n"
    )
    assert error_of(world.once(name, timeout_s=0.3)) == ("timeout", "step-timeout")
    ((_, pid, _, note),) = world.told
    assert note == "here"
    assert is_gone(pid)


def test_stopping_a_read_runs_its_clean_up(world: World, tmp_path: Path) -> None:
    name = world.executor(
        "import time\ndef run(a, c):\n    try:\n        c.progress(1)\n        time.sleep(60)\n"
        "    finally:\n        open(a['mark'], 'w').close()\n"
    )
    mark = tmp_path / "mark"

    async def scene() -> Any:
        task = asyncio.ensure_future(world.run(name, {"mark": str(mark)}))
        while not world.told:
            await asyncio.sleep(0)
        world.runners.stop("t", "1.1")
        return await task

    assert asyncio.run(scene()).status == "stopped"
    assert mark.exists()


def test_an_effect_that_ends_within_the_grace_tells_what_it_did(world: World) -> None:
    name = world.executor(
        "import time\nfrom metnos.sdk import *\ndef run(a, c):\n    c.progress(1)\n    time.sleep(0.2)\n"
        "    return Result.done(1, effects=(Effect(cls='send', target='you'),))\n"
    )

    async def scene() -> Any:
        task = asyncio.ensure_future(world.run(name, effect="send"))
        while not world.told:
            await asyncio.sleep(0)
        world.runners.stop("t", "1.1")
        return await task

    outcome = asyncio.run(scene())
    assert outcome.status == "finished"
    assert outcome.effects[0].target == "you"


def test_an_effect_that_must_be_killed_is_not_called_stopped(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metnos.execute.process.EFFECT_GRACE_S", 0.1)
    name = world.executor("import time\ndef run(a, c):\n    c.progress(1)\n    time.sleep(60)\n")

    async def scene() -> Any:
        task = asyncio.ensure_future(world.run(name, effect="change"))
        while not world.told:
            await asyncio.sleep(0)
        world.runners.stop("t", "1.1")
        return await task

    assert error_of(asyncio.run(scene())) == ("crashed", "effect-interrupted")


def test_cancelling_the_awaiting_task_ends_the_worker(world: World) -> None:
    name = world.executor("import os, time\ndef run(a, c):\n    c.progress(os.getpid())\n    time.sleep(60)\n")

    async def scene() -> None:
        task = asyncio.ensure_future(world.run(name))
        while not world.told:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scene())
    assert is_gone(world.told[0][1])


def test_a_queued_call_can_be_stopped_before_it_starts(world: World) -> None:
    slow = world.executor("import time\ndef run(a, c):\n    c.progress(1)\n    time.sleep(60)\n")

    async def scene() -> list[Any]:
        tasks = [asyncio.ensure_future(world.run(slow, step=f"1.{at}")) for at in range(5)]
        while len(world.told) < 2:
            await asyncio.sleep(0)
        for at in range(5):
            world.runners.stop("t", f"1.{at}")
        return await asyncio.gather(*tasks)

    assert [outcome.status for outcome in asyncio.run(scene())] == ["stopped"] * 5


def test_memory_is_limited_and_the_parent_lives(world: World) -> None:
    name = world.executor(
        "def run(a, c):\n    return len(bytearray(a['mb'] * 1024 * 1024))\n", limits={"memory_mb": 200}
    )
    assert error_of(world.once(name, {"mb": 400})) == ("memory", "memory-limit")
    assert world.once(name, {"mb": 10}).data == 10 * 1024 * 1024


@pytest.mark.parametrize(
    "start",
    [
        "    pid = os.fork()\n    if pid == 0:\n        os.setsid()\n        signal.pause()\n",
        "    pid = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'], start_new_session=True).pid\n",
        (
            "    pid = int(subprocess.check_output([sys.executable, '-c', 'import os, signal; p = os.fork()\\nif p: print(p, flush=True)\\n"
            "else: os.close(1); os.setsid(); signal.pause()'], start_new_session=True))\n"
        ),
    ],
)
def test_processes_left_behind_are_ended(world: World, start: str) -> None:
    name = world.executor(
        f"import os, signal, subprocess, sys\ndef run(a, c):\n{start}"
        "    return {'child': pid, 'worker': os.getpid()}\n"
    )
    outcome = world.once(name)
    assert outcome.status == "finished"
    wait_until(lambda: is_gone(outcome.data["child"]))
    assert is_gone(outcome.data["worker"])
    assert world.once(world.executor(ECHO), {"a": 1}).data == {"a": 1}


def test_a_forked_child_that_outlives_a_killed_worker_is_ended(world: World) -> None:
    name = world.executor(
        "import os, signal\ndef run(a, c):\n    pid = os.fork()\n    if pid == 0:\n        signal.pause()\n"
        "    c.progress(pid)\n    os._exit(1)\n"
    )
    assert error_of(world.once(name)) == ("crashed", "worker-crashed")
    wait_until(lambda: is_gone(world.told[0][1]))


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("float('nan')", "not-a-number"),
        ("float('inf')", "not-a-number"),
        ("1e308 * 10", "not-a-number"),
        ("10 ** 30", "integer-range"),
        ("{1: 2}", "not-json"),
        ("'\\ud800'", "lone-surrogate"),
        ("{'\\udfff': 1}", "lone-surrogate"),
        ("b'bytes'", "not-json"),
        ("{1, 2}", "not-json"),
        ("object()", "not-json"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(world: World, value: str, code: str) -> None:
    name = world.executor(f"def run(a, c):\n    return {{'ok': 1, 'rows': [0, {{'x/y': {value}}}]}}\n")
    outcome = world.once(name)
    assert error_of(outcome) == ("data", code)
    assert outcome.error is not None
    assert outcome.error.where.startswith("/rows/1/x~1y")


def test_depth_and_cycles(world: World) -> None:
    name = world.executor("def run(a, c):\n    d = []\n    for _ in range(a['n']): d = [d]\n    return d\n")
    assert world.once(name, {"n": 30}).status == "finished"
    assert error_of(world.once(name, {"n": 40})) == ("data", "too-deep")
    assert error_of(world.once(name, {"n": 100_000})) == ("data", "too-deep")
    cycle = world.executor("def run(a, c):\n    d = []\n    d.append(d)\n    return d\n")
    assert error_of(world.once(cycle)) == ("data", "too-deep")


def test_output_is_capped_by_the_worker_and_by_the_parent(world: World) -> None:
    limits = {"output_bytes": 1000}
    polite = world.executor("def run(a, c):\n    return 'x' * a['n']\n", limits=limits)
    assert world.once(polite, {"n": 900}).status == "finished"
    assert error_of(world.once(polite, {"n": 5000})) == ("oversize", "too-large")
    assert error_of(world.once(polite, {"n": 5_000_000})) == ("oversize", "too-large")


FORGE = """
import os, struct
def run(a, c):
    for fd in range(3, 64):
        try:
            if os.readlink(f'/proc/self/fd/{fd}').startswith('pipe:'):
                os.write(fd, bytes.fromhex(a['hex']))
        except OSError:
            pass
    return 1
"""


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"plain text", ("crashed", "worker-garbage")),
        (wire.HEADER.pack(wire.MAGIC, wire.RESULT, 2**31), ("oversize", "too-large")),
        (wire.frame(9, b""), ("crashed", "worker-garbage")),
        (wire.frame(wire.PROGRESS, b"[1"), ("crashed", "worker-garbage")),
        (wire.frame(wire.RESULT, b'{"data": NaN}'), ("crashed", "worker-garbage")),
        (wire.frame(wire.RESULT, b'{"data": 1e400}'), ("crashed", "worker-garbage")),
        (wire.frame(wire.RESULT, b'{"data": "\xff"}'), ("crashed", "worker-garbage")),
        (wire.frame(wire.RESULT, b'{"data": ' + b"[" * 100_000), ("crashed", "worker-garbage")),
        (wire.frame(wire.RESULT, b'{"data": 123456789012345678901234567890}'), ("data", "integer-range")),
        (wire.frame(wire.RESULT, b'{"version": 99}'), ("internal", "result-version")),
        (wire.frame(wire.RESULT, b'{"ok": false}'), ("internal", "result-malformed")),
    ],
)
def test_frames_are_not_believed(world: World, raw: bytes, expected: tuple[str, str]) -> None:
    """An executor that finds the pipe and writes to it harms nobody but its own step."""
    outcome = world.once(world.executor(FORGE), {"hex": raw.hex()})
    assert error_of(outcome) == expected


def test_nothing_of_the_environment_comes_along(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "leak")
    name = world.executor("import os\ndef run(a, c):\n    return {'env': dict(os.environ), 'cwd': os.getcwd()}\n")
    data = world.once(name).data
    assert data == {"env": {"LC_ALL": "C.UTF-8"}, "cwd": "/"}


def test_no_descriptor_of_the_parent_comes_along(world: World, tmp_path: Path) -> None:
    with (tmp_path / "private").open("w") as private:
        os.set_inheritable(private.fileno(), True)
        name = world.executor(
            "import os\ndef run(a, c):\n    return [os.readlink(f'/proc/self/fd/{fd}') for fd in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{fd}')]\n"
        )
        assert not any("private" in str(target) for target in world.once(name).data)


def test_workers_run_side_by_side(world: World, tmp_path: Path) -> None:
    """Two calls that each wait for the other can only both end if they run at once."""
    os.mkfifo(tmp_path / "a")
    os.mkfifo(tmp_path / "b")
    name = world.executor(
        "def run(a, c):\n    order = a['order']\n    modes = 'wr' if a['first'] else 'rw'\n"
        "    for path, mode in zip(order, modes): open(path, mode).close()\n    return 1\n"
    )
    order = [str(tmp_path / "a"), str(tmp_path / "b")]

    async def scene() -> list[Any]:
        return await asyncio.gather(
            *(world.run(name, {"order": order, "first": at == 0}, step=f"1.{at}") for at in (0, 1))
        )

    assert [outcome.data for outcome in asyncio.run(scene())] == [1, 1]


def test_an_idle_worker_that_died_is_replaced(world: World) -> None:
    name = world.executor("import os\ndef run(a, c):\n    return os.getpid()\n")
    pid = world.once(name).data
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z")
    outcome = world.once(name)
    assert outcome.status == "finished"
    assert outcome.data != pid


def test_close_ends_every_process(world: World) -> None:
    name = world.executor("import os\ndef run(a, c):\n    return os.getpid()\n")
    world.runners.prestart(2)
    pid = world.once(name).data
    asyncio.run(world.runners.close())
    assert is_gone(pid)
    with pytest.raises(RuntimeError, match="closed"):
        world.once(name)


def test_a_worker_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        "import asyncio, sys\n"
        "from metnos.contracts.model import Contract\n"
        "from metnos.execute.runner import Grant, Runners\n"
        "from metnos.turn.commands import StartStep\n"
        "class Catalog:\n"
        "    def function(self, name): return None\n"
        "    def code(self, name): return {'executor.py': b'''import os, time\n"
        "def run(a, c):\n"
        "    pid = os.fork()\n"
        "    if pid == 0: time.sleep(600)\n"
        "    c.progress(os.getpid(), pid)\n"
        "    while True: pass\n'''}\n"
        "tell = lambda step, done, total, note: print(done, total, flush=True)\n"
        "command = StartStep(step='1.1', operation='o', executor='x@1', args={}, digest='', effect='read', placement='worker', timeout_s=600)\n"
        "asyncio.run(Runners(Catalog(), progress=tell).run(command, Contract(name='x', version='1'), Grant()))\n"
    )
    package = Path(__file__).resolve().parents[2]
    parent = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(package)}
    )
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 2
    parent.kill()
    parent.wait()
    parent.stdout.close()
    for pid in pids:
        wait_until(lambda pid=pid: is_gone(pid))


def test_a_thread_that_started_the_pool_may_end(world: World) -> None:
    """The kernel's parent-death signal follows the thread: ours must not be the caller's."""
    name = world.executor("import os\ndef run(a, c):\n    return os.getpid()\n")
    pids: list[int] = []
    thread = threading.Thread(target=lambda: pids.append(world.once(name).data))
    thread.start()
    thread.join()
    assert world.once(name).data == pids[0]


def test_the_worker_loads_little(world: World) -> None:
    name = world.executor("import sys\ndef run(a, c):\n    return sorted(m for m in sys.modules if '.' not in m)\n")
    loaded = set(world.once(name).data)
    assert not loaded & {"asyncio", "orjson", "re2", "cryptography", "jsonschema_rs", "json", "subprocess", "lark"}


def test_garbage_to_a_worker_ends_it() -> None:
    worker = spawn()
    into, _, _, death = worker.descriptors
    os.write(into, json.dumps({"not": "a frame"}).encode())
    import select

    select.select([death], [], [])
    assert not worker.is_alive()
    worker.end()
