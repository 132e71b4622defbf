"""A manifest becomes a contract, or every reason why not, each at its place."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from metnos.contracts import manifest
from metnos.contracts.manifest import contract_of, manifest_schema, read_manifest, read_payload, read_table
from metnos.contracts.model import Contract, Intent
from metnos.contracts.schemas import check_schema
from metnos.plan.codes import CODES
from metnos.plan.diagnostics import Diagnostic

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted((ROOT / "manifests").glob("*.toml"))


def table() -> dict[str, Any]:
    found = read_table((ROOT / "manifests" / "filter_entries.toml").read_bytes())
    assert isinstance(found, dict)
    return found


def faults(changed: dict[str, Any], *, shipped: bool = False) -> list[tuple[str, str]]:
    """(code, place) of every fault; every code is in the table of codes."""
    found = contract_of(changed, shipped=shipped)
    assert isinstance(found, list), "this manifest should have been refused"
    assert all(fault.code in CODES for fault in found)
    return [(fault.code, fault.where) for fault in found]


def only(changed: dict[str, Any], *, shipped: bool = False) -> Diagnostic:
    found = contract_of(changed, shipped=shipped)
    assert isinstance(found, list)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_manifest_is_a_contract(path: Path) -> None:
    contract = read_manifest(path.read_bytes())
    assert isinstance(contract, Contract), contract
    assert contract.name == path.stem
    assert set(contract.descriptions) == {"en", "it"}
    assert contract.digest.startswith("sha256:")
    assert contract.args["additionalProperties"] is False


def test_every_executor_has_a_manifest_and_every_manifest_an_executor() -> None:
    folders = {path.parent.name for path in (ROOT / "catalog" / "executors").glob("*/executor.py")}
    assert {path.stem for path in SHIPPED} == folders
    assert folders >= {
        "compute_stats", "copy_files", "create_dirs", "delete_files", "filter_entries", "find_files", "move_files",
        "read_files", "render_table", "sort_entries", "take_entries", "undo_effects", "write_files",
    }  # fmt: skip


def test_a_contract_says_what_the_manifest_says() -> None:
    contract = read_manifest((ROOT / "manifests" / "write_files.toml").read_bytes())
    assert isinstance(contract, Contract)
    assert [(rule.effect, rule.when) for rule in contract.effects] == [
        ("change", {"overwrite": True}),
        ("create", None),
    ]
    assert contract.families == (Intent("write", "files"),)
    assert contract.consumes is not None
    assert (contract.consumes.into, contract.consumes.many) == ("content", False)
    assert contract.targets == contract.trusted == ("path",)
    assert contract.resources is not None
    assert contract.resources[0].arg == "path"
    assert contract.produces is None


def test_nothing_touched_and_nothing_declared_differ() -> None:
    touched = table()
    contract = contract_of(touched)
    assert isinstance(contract, Contract)
    assert contract.resources == ()
    del touched["resources"]
    contract = contract_of(touched)
    assert isinstance(contract, Contract)
    assert contract.resources is None


def test_the_schema_of_manifests_is_itself_sound() -> None:
    assert check_schema(manifest_schema()) == []


def test_an_unknown_field_is_named_with_what_was_meant() -> None:
    changed = table()
    changed["famillies"] = []
    changed["consumes"]["intoo"] = "x"
    found = contract_of(changed)
    assert isinstance(found, list)
    assert [(f.code, f.where, f.hint) for f in found] == [
        ("manifest-unknown-field", "/consumes/intoo", "did you mean into?"),
        ("manifest-unknown-field", "/famillies", "did you mean families?"),
    ]


def test_an_unknown_field_in_a_row_knows_its_table() -> None:
    changed = table()
    changed["effect"] = [{"class": "read", "zzz": 1}]
    fault = only(changed)
    assert (fault.where, fault.expected, fault.hint) == ("/effect/0/zzz", "class, when", "")


def test_a_missing_field_is_named() -> None:
    changed = table()
    del changed["version"]
    assert only(changed) == Diagnostic(code="manifest-missing-field", where="", found="", expected="version")


def test_every_fault_is_found_in_one_pass() -> None:
    changed = table()
    changed["version"] = "1.0"
    changed["effect"] = [{"class": "destroy"}]
    changed["nmae"] = "x"
    changed["args"]["properties"]["op"]["enumm"] = []
    changed["result"]["properties"]["count"]["type"] = "integr"
    assert sorted(code for code, _ in faults(changed)) == [
        "manifest-field",
        "manifest-field",
        "manifest-unknown-field",
        "schema-malformed",
        "schema-unknown-keyword",
    ]


@pytest.mark.parametrize("version", ["1", "1.0", "01.0.0", "1.0.0+build", "v1.0.0", "1.0.0-", "9999999999.0.0"])
def test_versions_are_semantic(version: str) -> None:
    changed = table()
    changed["version"] = version
    assert only(changed).where == "/version"


@pytest.mark.parametrize("name", ["", "a b", "a/b", "é", "x" * 129, "filter_entries\n"])
def test_names_have_a_form(name: str) -> None:
    changed = table()
    changed["name"] = name
    assert only(changed).where == "/name"


@pytest.mark.parametrize(
    ("change", "code", "where"),
    [
        ({"args": {"type": "array"}}, "manifest-args", "/args/type"),
        ({"targets": ["nowhere"]}, "manifest-argument", "/targets/0"),
        ({"trusted": ["nowhere"]}, "manifest-argument", "/trusted/0"),
        ({"own_text": ["nowhere"]}, "manifest-argument", "/own_text/0"),
        ({"sensitive": ["nowhere"]}, "manifest-argument", "/sensitive/0"),
        ({"opens_secrets": ["nowhere"]}, "manifest-argument", "/opens_secrets/0"),
        ({"field_of_input": ["feld"]}, "manifest-argument", "/field_of_input/0"),
        ({"requires_one_of": [["field", "nowhere"]]}, "manifest-argument", "/requires_one_of/0/1"),
        ({"resources": [{"kind": "root", "arg": "nowhere"}]}, "manifest-argument", "/resources/0/arg"),
        ({"missing_arg": "nowhere"}, "manifest-argument", "/missing_arg"),
        ({"missing_arg": "op"}, "manifest-argument", "/missing_arg"),
        ({"missing_arg": "field"}, "manifest-argument", "/missing_arg"),
        ({"consumes": {"into": "nowhere", "kinds": ["file"]}}, "manifest-argument", "/consumes/into"),
        ({"consumes": {"into": "entries", "kinds": ["file"], "many": False}}, "manifest-argument", "/consumes/into"),
        ({"consumes": {"into": "field", "kinds": ["file"]}}, "manifest-argument", "/consumes/into"),
        ({"consumes": {"into": "entries", "kinds": ["fille"]}}, "manifest-kind", "/consumes/kinds/0"),
        (
            {"produces": {"kind": "row", "rule": "pick", "roles": {"fields": "by"}}},
            "manifest-argument",
            "/produces/roles/fields",
        ),
        (
            {"produces": {"kind": "row", "rule": "join", "outer": {"how": "left"}}},
            "manifest-argument",
            "/produces/outer/how",
        ),
        (
            {"produces": {"kind": "row", "rule": "pick", "roles": {"fields": "field", "prefix": "op"}}},
            "manifest-kind",
            "/produces/roles/prefix",
        ),
        (
            {"produces": {"kind": "row", "rule": "group", "roles": {"measure": "field"}}},
            "manifest-kind",
            "/produces/roles",
        ),
        (
            {"produces": {"kind": "row", "rule": "same", "roles": {"fields": "field"}}},
            "manifest-kind",
            "/produces/roles/fields",
        ),
        ({"produces": {"kind": "nothing", "rule": "same"}}, "manifest-kind", "/produces/kind"),
        ({"produces": {"kind": "file", "field": "entry"}}, "manifest-result-field", "/produces/field"),
        ({"produces": {"kind": "file", "field": "count"}}, "manifest-result-field", "/result/properties/count"),
        ({"families": ["filter files"]}, "manifest-family", "/families/0"),
        ({"files": ["other.py"]}, "manifest-code-file", "/files"),
        ({"files": ["executor.py", "executor.py"]}, "manifest-code-file", "/files"),
        ({"effect": [{"class": "read", "when": {"op": "eq"}}]}, "manifest-effects", "/effect/0"),
        ({"effect": [{"class": "read"}, {"class": "read"}]}, "manifest-effects", "/effect/0"),
        (
            {"effect": [{"class": "read", "when": {"op": "equals"}}, {"class": "read"}]},
            "manifest-effects",
            "/effect/0/when/op",
        ),
        (
            {"effect": [{"class": "read", "when": {"opp": 1}}, {"class": "read"}]},
            "manifest-argument",
            "/effect/0/when/opp",
        ),
        ({"effect": [{"class": "create"}]}, "manifest-effects", "/placement"),
        (
            {"effect": [{"class": "create"}], "placement": "worker", "targets": ["field", "entries"]},
            "manifest-effects",
            "/targets",
        ),
    ],
)
def test_what_no_schema_can_say_is_a_rule(change: dict[str, Any], code: str, where: str) -> None:
    changed = {**table(), **change}
    assert (code, where) in faults(changed)


def test_arguments_are_closed() -> None:
    changed = table()
    del changed["args"]["additionalProperties"]
    changed["args"]["required"].append("nowhere")
    assert faults(changed) == [("manifest-args", "/args/additionalProperties"), ("manifest-argument", "/args/required")]


def test_without_an_input_nothing_is_passed_through() -> None:
    changed = table()
    del changed["consumes"]
    assert faults(changed) == [("manifest-kind", "/field_of_input"), ("manifest-kind", "/produces/rule")]


def test_an_optional_result_field_cannot_be_what_is_produced() -> None:
    changed = table()
    changed["result"]["required"] = ["count"]
    assert only(changed).found == "entries (optional)"


def test_a_schema_that_is_true_is_an_argument_too() -> None:
    changed = table()
    changed["args"]["properties"]["op"] = True
    changed["effect"] = [{"class": "read", "when": {"op": "anything"}}, {"class": "read"}]
    assert isinstance(contract_of(changed), Contract)
    changed["consumes"] = {"into": "op", "kinds": ["file"], "many": False}
    assert isinstance(contract_of(changed), Contract)
    changed["result"]["properties"]["entries"] = True
    assert faults(changed) == [("manifest-result-field", "/result/properties/entries")]


def test_shipped_ones_are_named_by_what_they_do_and_described_twice() -> None:
    changed = table()
    changed["name"] = "sieve"
    del changed["descriptions"]["it"]
    assert isinstance(contract_of(changed), Contract)
    assert faults(changed, shipped=True) == [("manifest-name", "/name"), ("manifest-description", "/descriptions")]
    changed = table()
    changed["name"] = "filter_entries_quick"
    assert isinstance(contract_of(changed, shipped=True), Contract)
    del changed["families"]
    assert faults(changed, shipped=True) == [("manifest-name", "/name")]


def test_a_key_given_twice_is_refused_by_the_reader() -> None:
    found = read_manifest(b'name = "a"\nname = "b"\n')
    assert isinstance(found, list)
    assert found[0].code == "manifest-syntax"
    found = read_manifest(b"[args]\ntype = 'object'\n[args]\n")
    assert isinstance(found, list)
    assert found[0].code == "manifest-syntax"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\xff", "manifest-syntax"),
        (b"x = ", "manifest-syntax"),
        (b"x = " + b"[" * 100_000, "manifest-syntax"),
        (b"x = '" + b"a" * manifest.MAX_BYTES + b"'", "manifest-oversize"),
        (b"x = 1\n" + b".".join([b"a"] * 100_000) + b" = 1", "manifest-oversize"),
        (b"[" + b".".join([b"'a'"] * 50_000) + b"]", "manifest-oversize"),
        (b"x = {" + b" . ".join([b'"a=\\""'] * 20_000) + b" = 1}", "manifest-oversize"),
    ],
    ids=["not utf-8", "half a line", "very deep", "very long", "very dotted", "dotted header", "dotted and quoted"],
)
def test_what_is_no_toml_is_refused(data: bytes, code: str) -> None:
    found = read_manifest(data)
    assert isinstance(found, list)
    assert [fault.code for fault in found] == [code]


def test_dots_in_values_are_no_parts_of_a_key() -> None:
    text = "a = '" + "." * 100 + "'\nb = [" + "1.5, " * 100 + ']\nc = """\n' + "x. " * 100 + '"""\nd.e = 1\n'
    found = read_table(text.encode())
    assert isinstance(found, dict)
    assert found["d"] == {"e": 1}


def test_a_file_of_unknown_fields_is_refused_without_ado() -> None:
    before = time.process_time()
    found = read_manifest(b"\n".join(b"a%d = 1" % number for number in range(20_000)))
    assert isinstance(found, list)
    assert len(found) == manifest.MAX_FAULTS
    assert time.process_time() - before < 5


def test_a_date_is_not_json() -> None:
    changed = table()
    toml = b"default = 2026-11-30\n"
    dated = read_table(toml)
    assert isinstance(dated, dict)
    changed["args"]["properties"]["value"].update(dated)
    assert ("schema-malformed", "/args") in faults(changed)
    changed = table()
    changed["version"] = dated["default"]
    assert faults(changed)[0][0] == "manifest-field"


@pytest.mark.parametrize(
    ("payload", "code"),
    [(b"[]", "manifest-field"), (b"{", "manifest-syntax"), (b'{"name": "a", "name": "b"}', "manifest-syntax")],
)
def test_a_payload_is_strict_json(payload: bytes, code: str) -> None:
    found = read_payload(payload)
    assert isinstance(found, list)
    assert found[0].code == code


def test_a_payload_is_the_same_contract() -> None:
    from metnos.plan.jsondata import canonical

    contract = read_payload(canonical(table()))
    assert isinstance(contract, Contract)
    assert contract == contract_of(table())
