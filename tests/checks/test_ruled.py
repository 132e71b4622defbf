"""What is picked, grouped and joined is typed from the arguments: plans over the shipped executors."""

from __future__ import annotations

from typing import Any

import pytest

from metnos.checks.validator import Validator

FILES = {"tool": "find_files", "args": {}}
HASHES = {"tool": "compute_files_hash", "args": {"from_step": 1}}
TABLE = {"tool": "read_files_csv", "args": {"path": "t.csv"}}


def faults(validator: Validator, *steps: dict[str, Any], **end: Any) -> list[tuple[str, str]]:
    plan = {"steps": [*steps, {"tool": "final_answer", "args": end}]}
    return [(fault.code, fault.where) for fault in validator(plan).diagnostics]


def step(tool: str, number: int = 1, **args: Any) -> dict[str, Any]:
    return {"tool": tool, "args": {"from_step": number, **args}}


def sort(number: int, by: str) -> dict[str, Any]:
    return step("sort_entries", number, by=by)


@pytest.mark.parametrize(
    ("steps", "by", "known"),
    [
        ([FILES, step("select_fields", fields=["path"])], "path", True),
        ([FILES, step("select_fields", fields="path")], "size", False),
        ([FILES, step("select_fields", fields=["path", "size"], rename={"size": "bytes"})], "bytes", True),
        ([FILES, step("select_fields", fields=["path", "size"], rename={"size": "bytes"})], "size", False),
        ([FILES, step("group_entries", by="ext")], "ext", True),
        ([FILES, step("group_entries", by="ext")], "count", True),
        ([FILES, step("group_entries", by="ext")], "path", False),
        ([FILES, step("group_entries", by="ext")], "sum", False),
        ([FILES, step("group_entries", by="ext", field="size")], "sum", True),
        ([FILES, step("group_entries", by="ext")], "entries", False),
        ([FILES, HASHES, step("join_entries", 2, other="${step1.entries}", on="path")], "modified", True),
        ([FILES, HASHES, step("join_entries", 2, other="${step1.entries}", on="path")], "other_size", True),
        ([FILES, HASHES, step("join_entries", 2, other="${step1.entries}", on="path", prefix="f_")], "f_size", True),
        (
            [FILES, HASHES, step("join_entries", 2, other="${step1.entries}", on="path", prefix="f_")],
            "other_size",
            False,
        ),
        ([FILES, HASHES, step("join_entries", 2, other="${step1.entries}", on="path")], "other_path", False),
        ([FILES, step("dedupe_entries", by="size")], "path", True),
        ([FILES, step("dedupe_entries")], "digest", False),
    ],
)
def test_the_fields_of_what_is_made_are_known(
    validator: Validator, steps: list[dict[str, Any]], by: str, known: bool
) -> None:
    number = len(steps)
    expected = [] if known else [("unknown-field", f"/steps/{number}/args/by")]
    assert faults(validator, *steps, sort(number, by)) == expected


@pytest.mark.parametrize(
    ("last", "where"),
    [
        (step("select_fields", fields=["path", "sise"]), "/steps/1/args/fields/1"),
        (step("select_fields", fields=["path"], rename={"a/b": "x"}), "/steps/1/args/rename/a~1b"),
        (step("group_entries", by="extension"), "/steps/1/args/by"),
        (step("group_entries", by="ext", field="bytes"), "/steps/1/args/field"),
        (step("dedupe_entries", by=["path", "hash"]), "/steps/1/args/by/1"),
        (step("join_entries", other="${step1.entries}", on="nothing"), "/steps/1/args/on"),
        (step("join_entries", other="${step1.entries}", on="path", other_on="nothing"), "/steps/1/args/other_on"),
        (step("join_entries", other=[{"id": 1}], on="path"), "/steps/1/args/on"),
    ],
)
def test_a_field_that_is_not_there_is_a_fault(validator: Validator, last: dict[str, Any], where: str) -> None:
    assert ("unknown-field", where) in faults(validator, FILES, last)


def reference(validator: Validator, path: str, *steps: dict[str, Any]) -> list[str]:
    """Codes for an answer that refers to an element which `when` has found to be there."""
    number = len(steps)
    taken = {"tool": "take_entries", "when": {"nonempty": number}, "args": {"entries": [path], "count": 1}}
    codes = [code for code, _ in faults(validator, *steps, taken)]
    return [code for code in codes if code != "type-mismatch"]


def test_what_is_certain_needs_no_fallback(validator: Validator) -> None:
    group = step("group_entries", by="ext", field="size", keep=True)
    for path in ("sum", "count", "ext", "entries[*].path"):
        assert reference(validator, f"${{step2.entries[0].{path}}}", FILES, group) == []
    null = step("group_entries", by="ext", field="size", missing="null")
    assert reference(validator, "${step2.entries[0].sum}", FILES, null) == ["fallback-needed"]
    maybe = step("group_entries", by="ext", field="${INPUT:x}")
    assert "fallback-needed" in reference(validator, "${step2.entries[0].sum}", FILES, maybe)
    assert reference(validator, "${step2.entries[0].path}", FILES, step("select_fields", fields="path")) == []
    optional = step("select_fields", fields="path_bytes", missing="null")
    assert reference(validator, "${step2.entries[0].path_bytes}", FILES, optional) == []
    left = step("join_entries", 2, other="${step1.entries}", on="path", how="left")
    assert reference(validator, "${step3.entries[0].modified}", FILES, HASHES, left) == ["fallback-needed"]
    assert reference(validator, "${step3.entries[0].digest}", FILES, HASHES, left) == []


def test_values_keep_their_type(validator: Validator) -> None:
    read = {"tool": "read_files", "when": {"nonempty": 2}, "args": {"path": "${step2.entries[0].bytes}"}}
    picked = step("select_fields", fields=["path", "size"], rename={"size": "bytes"})
    assert faults(validator, FILES, picked, read) == [("type-mismatch", "/steps/2/args/path")]
    read["args"] = {"path": "${step2.entries[0].path}"}
    assert faults(validator, FILES, picked, read) == []


def test_a_join_hands_the_kind_on_a_pick_does_not(validator: Validator) -> None:
    joined = step("join_entries", other="${step1.entries}", on="path")
    assert faults(validator, FILES, joined, step("read_files", 2)) == []
    picked = step("select_fields", fields=["path"])
    assert faults(validator, FILES, picked, step("read_files", 2)) == [("kind-mismatch", "/steps/2/args/from_step")]


def test_rows_of_a_table_are_open(validator: Validator) -> None:
    for last in (
        step("select_fields", fields=["a", "b"], rename={"a": "c"}),
        step("group_entries", by="a", field="b"),
        step("dedupe_entries", by="a"),
        step("join_entries", other="${step1.entries}", on="a"),
    ):
        assert faults(validator, TABLE, last) == []
    chain = (TABLE, step("select_fields", fields=["a"], rename={"a": "c"}))
    assert faults(validator, *chain, sort(2, "c")) == []
    assert faults(validator, *chain, sort(2, "a")) == [("unknown-field", "/steps/2/args/by")]
    joined = step("join_entries", 2, other="${step1.entries}", on="path", other_on="file")
    assert faults(validator, TABLE, {"tool": "find_files", "args": {}}, joined, sort(3, "anything")) == []


def test_names_that_a_reference_brings_leave_the_entries_open(validator: Validator) -> None:
    plan = {
        "steps": [
            FILES,
            step("select_fields", fields=['${step1.entries[0].name ?? "path"}']),
            sort(2, "whatever"),
            {"tool": "final_answer", "args": {}},
        ]
    }
    assert validator(plan).ok
