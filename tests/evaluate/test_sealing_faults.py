"""What goes wrong while turns are sealed, and to what was sealed: nothing is lost, doubled, or taken for whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys

import duckdb
import pytest

from metnos.evaluate.collections.model import Fault
from metnos.evaluate.collections.opening import open_collection
from metnos.evaluate.collections.sealing import claimed, seal
from metnos.evaluate.collections.turnlog import encode_turn
from metnos.record.faults import RecordFault
from metnos.record.verify import verify_log
from metnos.testing.disk import FullDisk
from tests.evaluate.test_sealing import good, items, out, source  # noqa: F401 - fixtures


def whole(folder):
    return [encode_turn(item.log, item.labels) for item in items(folder) if not isinstance(item, Fault)]


def test_any_flipped_byte_is_found_or_changes_no_turn(source, out):  # noqa: F811
    seal(open_collection(source), out)
    before = whole(out)
    rng = random.Random(17)
    files = sorted(out.glob("*.parquet"))
    found = 0
    for _ in range(60):
        path = rng.choice(files)
        data = path.read_bytes()
        bad = bytearray(data)
        bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
        path.write_bytes(bad)
        read = items(out)
        wrong = [item for item in read if isinstance(item, Fault) or not verify_log(item.log).ok]
        found += bool(wrong)
        if not wrong:
            assert [line.split(b',"labels"')[0] for line in whole(out)] == [
                line.split(b',"labels"')[0] for line in before
            ]
        for item in wrong:
            assert path.parent.name in item.where
        path.write_bytes(data)
    assert found > 20
    assert whole(out) == before


@pytest.mark.parametrize("table", ["turn", "record"])
@pytest.mark.parametrize(
    "select", ["42 AS x", "* REPLACE (NULL AS turn)", "* REPLACE (7 AS turn)", "* REPLACE ('x' AS seq)"]
)
def test_a_foreign_table_is_a_fault_with_its_file(source, out, table, select):  # noqa: F811
    seal(open_collection(source), out)
    path = out / f"{table}-000001.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT {select} FROM '{path}') TO '{path}.new' (FORMAT parquet)")
    os.replace(f"{path}.new", path)
    faults = [item for item in items(out) if isinstance(item, Fault)]
    assert faults
    assert all("-000001.parquet" in fault.where and fault.code == "turnlog-malformed" for fault in faults)


def test_parts_whose_files_changed_places_are_found(source, out):  # noqa: F811
    seal(open_collection(source), out, size=2)
    one, two = out / "record-000001.parquet", out / "record-000002.parquet"
    one.rename(out / "aside")
    two.rename(one)
    (out / "aside").rename(two)
    assert any(isinstance(item, Fault) for item in items(out))


@pytest.mark.parametrize("damage", ["gone", "cut", "foreign", "no hash"])
def test_sealing_into_what_is_damaged_is_refused_with_the_file_and_changes_nothing(source, out, damage):  # noqa: F811
    seal(open_collection(source), out)
    path = out / "turn-000001.parquet"
    if damage == "gone":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:-7])
    else:
        columns = "42 AS x" if damage == "foreign" else "* REPLACE ('odd' AS hash)"
        with duckdb.connect() as connection:
            connection.execute(f"COPY (SELECT {columns} FROM '{path}') TO '{path}.new' (FORMAT parquet)")
        os.replace(f"{path}.new", path)
    before = {one: one.read_bytes() for one in sorted(out.iterdir())}
    with pytest.raises((RecordFault, OSError), match=r"turn-000001\.parquet") as raised:
        seal(open_collection(source), out)
    assert isinstance(raised.value, OSError if damage == "gone" else RecordFault)
    assert {one: one.read_bytes() for one in sorted(out.iterdir())} == before


@pytest.mark.parametrize("size", [1_000, 6_000, 12_000])
def test_on_a_full_disk_what_counted_counts_and_no_draft_is_left(source, out, size):  # noqa: F811
    with FullDisk(size), pytest.raises(OSError, match="File too large"):
        seal(open_collection(source), out, size=3)
    assert not list(out.glob(".*"))
    assert all(not isinstance(item, Fault) for item in items(out)) if (out / "seal.json").exists() else True
    seal(open_collection(source), out, size=3)
    assert sorted(whole(out)) == sorted(encode_turn(item.log, item.labels) for item in items(source))


def test_two_processes_at_once_seal_every_turn_once(source, out, root):  # noqa: F811
    program = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from metnos.evaluate.collections import sealing\n"
        "from metnos.evaluate.collections.opening import open_collection\n"
        "from metnos.record.faults import RecordFault\n"
        "sync = sealing._sync\n"
        "def slowly(path):\n"
        "    time.sleep(0.3)\n"
        "    sync(path)\n"
        "sealing._sync = slowly\n"
        "try:\n"
        f"    sealing.seal(open_collection({str(source)!r}), Path({str(out)!r}), size=3)\n"
        "except RecordFault as fault:\n"
        "    sys.exit(fault.code)\n"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", program], cwd=root, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    told = sorted((process.communicate()[1].strip(), process.returncode) for process in both)
    assert told == [("", 0), ("seal-busy", 1)]
    assert sorted(whole(out)) == sorted(encode_turn(item.log, item.labels) for item in items(source))


def test_who_dies_holds_the_folder_no_longer(out, root):  # noqa: F811
    out.mkdir()
    program = (
        "import os, signal\n"
        "from pathlib import Path\n"
        "from metnos.evaluate.collections.sealing import claimed\n"
        f"with claimed(Path({str(out)!r})):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=root, check=False).returncode == -signal.SIGKILL
    with claimed(out), pytest.raises(RecordFault, match="seal-busy"), claimed(out):
        raise AssertionError("two hold it")
