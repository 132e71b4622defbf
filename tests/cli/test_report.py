"""`metnos log report`, typed: of a home, of one turn, of a folder of logs, of a stream."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.terminal import ROOT, Typed

LOGS = ROOT / "tests" / "record" / "logs" / "0.1"


def test_a_report_of_a_home_a_turn_and_a_folder(typed: Typed, folder: Path) -> None:
    for request in ("how many files are here", "frobnicate everything"):
        typed("ask", request, "--no-model")
    report = typed("--json", "log", "report").json
    assert (report["form"], report["turns"], report["outcomes"]) == (
        "metnos.report/1",
        2,
        {"not_understood": 1, "success": 1},
    )
    assert {row["request"] for row in report["rows"]} == {"how many files are here", "frobnicate everything"}
    typed("log", "label", "last", "judge=bad")
    (row,) = typed("--json", "log", "report", "last").json["rows"]
    assert (row["request"], row["labels"]) == ("frobnicate everything", {"judge": "bad"})
    assert typed("--json", "log", "report", "--limit", "1").json["turns"] == 1
    assert "1   50.0 %" in typed("log", "report").out
    of_logs = typed("--json", "log", "report", str(LOGS)).json
    assert of_logs["turns"] == len(list(LOGS.glob("*.jsonl")))
    done = typed("--json", "log", "report", str(LOGS), "--to", "page.html", "--title", "logs of <0.1>")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert done.json == {
        "page": "page.html",
        "bytes": len(page.encode()),
        "turns": of_logs["turns"],
        "named": len(of_logs["rows"]),
    }
    assert "<title>logs of &lt;0.1&gt;</title>" in page
    assert typed("--json", "log", "report", "nothing").error["code"] == "turn-missing"


def test_an_evaluation_writes_the_same_page_with_the_recorded_turns_beside(typed: Typed, folder: Path) -> None:
    turns = [
        typed("--json", "ask", request).json["turn"]
        for request in ("how many files are here", "the five largest files here")
    ]
    typed("log", "label", turns[0], "judge=good", "task=1")
    run = f'form = "metnos.run/1"\nname = "without <templates>"\n[turns]\npath = "{typed.home}"\n'
    (folder / "RUN.toml").write_text(run + '[parts.cache]\nmode = "off"\n[report]\npage = "by-file.html"\n')
    done = typed("--json", "eval", "RUN.toml", "--report", "page.html")
    assert (done.status, done.json["recorded"]["turns"]) == (0, 2)
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "<title>without &lt;templates&gt;</title>" in page
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    assert {(row["outcome"], row["recorded_outcome"]) for row in data["rows"]} == {("unanswered", "success")}
    assert all(row["recorded_plan"] in data["plans"] for row in data["rows"])
    (folder / "LABEL.toml").write_text(run + 'label = { judge = "good" }\n[report]\npage = "by-file.html"\n')
    assert typed("--json", "eval", "LABEL.toml").json["now"]["turns"] == 1
    assert (folder / "by-file.html").exists()


def test_turns_whose_log_does_not_hold_are_counted_and_named_as_such(typed: Typed, folder: Path) -> None:
    done = typed("log", "report", str(LOGS))
    assert (done.status, "2 turns are counted whose log does not hold: " in done.err) == (1, True)
    broken = typed("--json", "log", "report", str(LOGS)).json["broken"]
    assert broken == {"log-cut-off": 1, "record-altered": 1}
    done = typed("log", "report", str(LOGS), "--to", "page.html")
    assert (done.status, "1 × log-cut-off" in done.err) == (1, True)
    assert "<li>1 × record-altered</li>" in (folder / "page.html").read_text(encoding="utf-8")
    typed("ask", "how many files are here", "--no-model")
    done = typed("log", "report")
    assert (done.status, done.err) == (0, "")


def test_drift_of_a_folder_of_logs_is_told_against_the_tools_beside_it(typed: Typed) -> None:
    drift = typed("--json", "log", "drift", str(LOGS)).json
    assert "log-broken" in {one["kind"] for one in drift["groups"]}
    shipped = typed("--json", "log", "drift", str(LOGS), "--catalog", str(ROOT / "build" / "catalog")).json
    assert {one["kind"] for one in shipped["groups"]} - {"tool-version"} == {one["kind"] for one in drift["groups"]}
    assert shipped["turns"] == drift["turns"] == len(list(LOGS.glob("*.jsonl")))


@pytest.mark.parametrize(
    "command", [("eval",), ("log", "report"), ("log", "drift"), ("replay",), ("log", "seal", "to", "--from")]
)
def test_lines_that_cannot_be_read_are_named_and_counted_alike(
    typed: Typed, folder: Path, command: tuple[str, ...]
) -> None:
    (folder / "bad").mkdir()
    (folder / "bad" / "turns.jsonl").write_text("no turn\n" * 30)
    done = typed(*command, "bad/")
    assert done.status == 1
    assert [line.strip().split()[0] for line in done.out.splitlines() if ".jsonl:" in line] == [
        f"{'bad' if command != ('eval',) else folder / 'bad'}/turns.jsonl:{number}:" for number in range(1, 6)
    ]
    assert "… and 25 more" in done.out
    assert "30" in done.out
