"""`metnos log label` and `metnos log case`, typed."""

from __future__ import annotations

from pathlib import Path

from metnos.evaluate.cases.files import load_case, log_of
from metnos.record.verify import verify_log
from tests.support.terminal import Metnos

COUNT = "how many files are here"


def test_a_turn_is_labelled_listed_by_its_label_and_made_a_case(metnos: Metnos, folder: Path) -> None:
    turns = [metnos("--json", "ask", COUNT).json["turn"] for _ in range(2)]
    done = metnos("--json", "log", "label", turns[0], "judge=good", "task=3", "sure=true", "note=a = b", "list=[1]")
    said = {"judge": "good", "list": "[1]", "note": "a = b", "sure": True, "task": 3}
    assert done.json == {"turn": turns[0], "labels": said}
    listed = metnos("--json", "log").json["turns"]
    assert {one["turn"]: one.get("labels", {}) for one in listed} == {turns[0]: said, turns[1]: {}}
    assert [one["turn"] for one in metnos("--json", "log", "--label", "task=3", "--label", "judge").json["turns"]] == [
        turns[0]
    ]
    assert metnos("--json", "log", "--label", "task=4").json["turns"] == []
    assert "judge=good  list=[1]  note=a = b  sure=true  task=3" in metnos("log", "--label", "sure=true").out
    shown = metnos("log", turns[0])
    assert "label        judge=good\n" in shown.out
    assert metnos("--json", "log", turns[0]).json["labels"] == said
    assert metnos("--json", "replay", turns[0]).json["status"] == "identical"
    assert metnos("log", turns[0], "--verify").status == 0
    assert metnos("--json", "log", "label", turns[0], "1a=x").error["code"] == "label-invalid"
    assert metnos("log", "label", turns[0], "--remove", "list", "--remove", "note").out.startswith(
        f"{turns[0]}: judge=good"
    )

    made = metnos("--json", "log", "case", turns[0], "--to", "count.toml")
    assert (made.status, made.json["case"]) == (0, "count")
    assert sorted(made.json["files"]) == ["count.toml", "count.turn.jsonl"]
    case = load_case(folder / "count.toml")
    assert (case.request, case.labels["task"], case.expect.outcome) == (COUNT, 3, "success")
    assert verify_log(log_of(case)).ok
    assert metnos("log", "case", "last").json["form"] == "metnos.case/1"
    assert metnos("--json", "log", "case", "nothing").error["code"] == "turn-missing"
