"""Results as version 4 of the leaderboard lays them out: a folder of each group of categories below that of the model."""

from __future__ import annotations

import json

from metnos.evaluate.collections.opening import open_collection
from metnos.evaluate.importing.collection import import_collection


def test_models_are_told_apart_whatever_folders_of_groups_lie_between(tmp_path):
    source = tmp_path / "bfcl"
    source.mkdir()
    tool = {"name": "Cinema_1_Buy", "parameters": {"type": "dict", "properties": {"count": {"type": "integer"}}}}
    question = {"id": "live_relevance_0-0-0", "question": [[{"role": "user", "content": "four"}]], "function": [tool]}
    (source / "BFCL_v4_live_relevance.json").write_text(json.dumps(question))
    name = question["id"]
    for model, result, right in (("one", [{"Cinema_1_Buy": '{"count": 4}'}], 1), ("two", [], 0)):
        for kind in ("result", "score"):
            (source / kind / model / "live").mkdir(parents=True)
        told = {"id": name, "result": result, "input_token_count": 6, "output_token_count": 2, "latency": 2.7}
        (source / "result" / model / "live" / "BFCL_v4_live_relevance_result.json").write_text(json.dumps(told))
        lines = [json.dumps({"accuracy": right, "correct_count": right, "total_count": 1})]
        if not right:
            lines.append(json.dumps({"id": name, "model_name": model, "valid": False, "prompt": question}))
        (source / "score" / model / "live" / "BFCL_v4_live_relevance_score.json").write_text("\n".join(lines))
    report = import_collection("bfcl", source, tmp_path / "out")
    assert (report.turns, report.unread) == (2, 0)
    turns = [item for shard in open_collection(tmp_path / "out").shards() for item in shard.read()]
    assert {(turn.labels["model"], turn.labels["reward"]) for turn in turns} == {("one", 1.0), ("two", 0.0)}
