"""`metnos log label` and `metnos log case`, typed."""

from __future__ import annotations

from pathlib import Path

from metnos.evaluate.cases.files import load_case, log_of
from metnos.record.verify import verify_log
from tests.support.terminal import Typed

COUNT = "how many files are here"


def test_a_turn_is_labelled_listed_by_its_label_and_made_a_case(typed: Typed, folder: Path) -> None:
    turns = [typed("--json", "ask", COUNT).json["turn"] for _ in range(2)]
    done = typed("--json", "log", "label", turns[0], "judge=good", "task=3", "sure=true", "note=a = b", "list=[1]")
    said = {"judge": "good", "list": "[1]", "note": "a = b", "sure": True, "task": 3}
    assert done.json == {"turn": turns[0], "labels": said}
    listed = typed("--json", "log").json["turns"]
    assert {one["turn"]: one.get("labels", {}) for one in listed} == {turns[0]: said, turns[1]: {}}
    assert [one["turn"] for one in typed("--json", "log", "--label", "task=3", "--label", "judge").json["turns"]] == [
        turns[0]
    ]
    assert typed("--json", "log", "--label", "task=4").json["turns"] == []
    assert "judge=good  list=[1]  note=a = b  sure=true  task=3" in typed("log", "--label", "sure=true").out
    shown = typed("log", turns[0])
    assert "label        judge=good\n" in shown.out
    assert typed("--json", "log", turns[0]).json["labels"] == said
    assert typed("--json", "replay", turns[0]).json["status"] == "identical"
    assert typed("log", turns[0], "--verify").status == 0
    assert typed("--json", "log", "label", turns[0], "1a=x").error["code"] == "label-invalid"
    assert typed("log", "label", turns[0], "--remove", "list", "--remove", "note").out.startswith(
        f"{turns[0]}: judge=good"
    )

    made = typed("--json", "log", "case", turns[0], "--to", "count.toml")
    assert (made.status, made.json["case"]) == (0, "count")
    assert sorted(made.json["files"]) == ["count.toml", "count.turn.jsonl"]
    case = load_case(folder / "count.toml")
    assert (case.request, case.labels["task"], case.expect.outcome) == (COUNT, 3, "success")
    assert verify_log(log_of(case)).ok
    assert typed("log", "case", "last").json["form"] == "metnos.case/1"
    assert typed("--json", "log", "case", "nothing").error["code"] == "turn-missing"


def test_a_case_is_tried_and_a_turn_is_forked(typed: Typed, folder: Path) -> None:
    turn = typed("--json", "ask", "the five largest files here, as a table").json["turn"]
    typed("log", "case", turn, "--to", "case.json")
    tried = typed("--json", "log", "case", "--check", "case.json")
    assert (tried.status, tried.json["cases"][0]["ok"]) == (0, True)
    text = (folder / "case.json").read_text()
    (folder / "bad.json").write_text(text.replace('"outcome": "success"', '"outcome": "error"'))
    tried = typed("log", "case", "--check", "case.json", "bad.json")
    assert (tried.status, tried.out) == (1, "holds: case\nfails: case\n  outcome: error → success\n")
    (folder / "a.txt").unlink()
    forked = typed("--json", "log", "fork", turn, "1.2", "--args", '{"by": "name"}')
    assert (forked.status, forked.json["unobserved"]) == (1, "1.2")
    assert forked.json["steps"][0] == {"step": "1.1", "tool": "find_files", "state": "done", "before": True}
    same = typed("log", "fork", turn, "2", "--args", "{}")
    assert (same.status, same.out.splitlines()[-1]) == (0, "The fork ends: success.")
    assert typed("--json", "log", "fork", turn, "7", "--args", "{}").error["code"] == "fork-impossible"
    for words in ([], ["--args", "[]"], ["--args", "{}", "--model", "x"]):
        done = typed("--json", "log", "fork", turn, "2", *words)
        assert (done.status, done.error["code"]) == (2, "usage")


def test_a_case_of_an_imported_turn_is_tried_under_the_contracts_beside_it(typed: Typed, folder: Path) -> None:
    from metnos.evaluate.cases.files import save_case
    from metnos.evaluate.cases.making import make_case
    from tests.support.trajectories import imported, lines, tau, turns_of

    imported("tau", lines(folder / "runs.jsonl", tau()), folder / "turns")
    (turn,) = turns_of(folder / "turns")
    save_case(make_case(turn.log, "lend", {}), folder / "turns" / "lend.case.toml")
    assert typed("log", "case", "--check", "turns/lend.case.toml").status == 0
    (folder / "turns" / "contracts.json").unlink()  # tools that this installation does not have
    assert typed("log", "case", "--check", "turns/lend.case.toml").status == 1
