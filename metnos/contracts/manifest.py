"""A manifest becomes a contract, or every reason why not, in one pass.

Law: what a manifest may hold is `manifest.schema.json` and nothing else; the rules that no schema can say are
`manifest_rules.RULES`. Reading decides nothing about trust, and never opens a file.

    read_manifest(Path("manifests/find_files.toml").read_bytes())   # Contract, or a list of diagnostics

The committed TOML lists code files by name. The signed payload is the same table as canonical JSON with each file's
SHA-256 and length filled in, and `sdk`; `contract_of` reads it.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, cast

from metnos.contracts.manifest_rules import RULES
from metnos.contracts.model import (
    Choice,
    CodeFile,
    Consumes,
    Contract,
    EffectRule,
    Intent,
    Limits,
    Origin,
    Produces,
    Resource,
)
from metnos.contracts.schemas import Fault, check_schema, validator_for
from metnos.contracts.toml_guard import MAX_PARTS, too_dotted
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.jsondata import JSONFault, digest, loads_strict

MAX_BYTES = 256 * 1024
MAX_FAULTS = 50
"""So many faults of shape are told; a file with more is no manifest."""


@cache
def manifest_schema() -> dict[str, Any]:
    """The JSON Schema of a manifest; `metnos schema manifest` prints it."""
    return cast("dict[str, Any]", loads_strict(Path(__file__).with_name("manifest.schema.json").read_bytes()))


def read_table(toml: bytes) -> dict[str, Any] | list[Diagnostic]:
    """The table of a TOML manifest, as written; no rule but TOML's own is checked (a key given twice is a fault)."""
    if len(toml) > MAX_BYTES:
        return [Diagnostic(code="manifest-oversize", where="", found=f"{len(toml)} bytes", expected=f"{MAX_BYTES}")]
    try:
        text = toml.decode("utf-8")
        line = too_dotted(text)
        if line:
            found, expected = f"line {line}", f"at most {MAX_PARTS} parts in a dotted key"
            return [Diagnostic(code="manifest-oversize", where="", found=found, expected=expected)]
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        return [Diagnostic(code="manifest-syntax", where="", found=str(error)[:200], expected="TOML 1.0 in UTF-8")]
    except RecursionError:
        return [Diagnostic(code="manifest-syntax", where="", found="nested too deeply", expected="depth 32")]


def read_manifest(toml: bytes, *, shipped: bool = True) -> Contract | list[Diagnostic]:
    """A committed manifest as a contract.

    Args:
        toml: The file's bytes, at most 256 KiB.
        shipped: Rules for executors of this repository hold too: a family of the vocabulary, descriptions in
            English and Italian, a name `verb_object[_provider]`.

    Returns:
        The contract; its `files` have no digest yet. Or every fault, with pointers into the table.
    """
    table = read_table(toml)
    return table if isinstance(table, list) else contract_of(table, shipped=shipped)


def read_payload(payload: bytes) -> Contract | list[Diagnostic]:
    """The verified payload of a signed manifest (canonical JSON) as a contract with file digests."""
    try:
        table = loads_strict(payload)
    except JSONFault as fault:
        return [Diagnostic(code="manifest-syntax", where=fault.where, found=fault.message, expected="strict JSON")]
    if not isinstance(table, dict):
        return [Diagnostic(code="manifest-field", where="", found=type(table).__name__, expected="a table")]
    return contract_of(table, shipped=False)


def contract_of(
    table: dict[str, Any], *, shipped: bool = False, origin: Origin = "catalog"
) -> Contract | list[Diagnostic]:
    """A manifest's table as a contract, or every fault.

    Shape comes first; the rules are walked only over a table of the right shape, so that none of them is in doubt
    about what it looks at. Both schemas are checked in either case.
    """
    faults = check_manifest(table, shipped=shipped)
    return faults or build_contract(table, origin=origin)


def check_manifest(table: dict[str, Any], *, shipped: bool) -> list[Diagnostic]:
    """Every fault of a manifest's table, in the order shape, schemas, rules."""
    shape = sorted(validator_for(manifest_schema())(table))
    faults = [_shape_fault(fault) for fault in shape[:MAX_FAULTS]]
    faults += [
        fault
        for name in ("args", "result")
        if isinstance(table.get(name), dict)
        for fault in check_schema(table[name], f"/{name}")
    ]
    if not faults:
        faults = [fault for rule, shipped_only in RULES if shipped or not shipped_only for fault in rule(table)]
    return faults


def build_contract(table: dict[str, Any], *, origin: Origin) -> Contract:
    """A sound table as a contract; nothing is checked."""
    resources = table.get("resources")
    as_written = {name: table[name] for name in _AS_WRITTEN if name in table}
    lists: dict[str, Any] = {name: tuple(table[name]) for name in _ARGUMENT_LISTS if name in table}
    return Contract(
        name=table["name"],
        version=table["version"],
        origin=origin,
        placement=table.get("placement", "worker"),
        families=tuple(Intent(*family.split(" ")) for family in table.get("families", ())),
        args=table["args"],
        result=table["result"],
        consumes=_consumes(table.get("consumes")),
        produces=Produces(**table["produces"]) if "produces" in table else None,
        requires_one_of=tuple(tuple(group) for group in table.get("requires_one_of", ())),
        effects=tuple(EffectRule(effect=rule["class"], when=rule.get("when")) for rule in table["effect"]),
        **as_written,
        **lists,
        missing_arg=table.get("missing_arg"),
        resources=None if resources is None else tuple(Resource(**resource) for resource in resources),
        choices=tuple(_choice(choice) for choice in table.get("choice", ())),
        limits=Limits(**table.get("limits", {})),
        platforms=tuple(table.get("platforms", ())),
        descriptions=table["descriptions"],
        files=tuple(_code_file(file) for file in table.get("files", ())),
        distributions=tuple(table.get("distributions", ())),
        digest=digest(table),
    )


_AS_WRITTEN = ("idempotent", "probe", "undo", "per_entry_approval")
_ARGUMENT_LISTS = ("targets", "trusted", "own_text", "sensitive", "opens_secrets", "field_of_input")


def _consumes(table: dict[str, Any] | None) -> Consumes | None:
    if table is None:
        return None
    return Consumes(into=table["into"], kinds=tuple(table["kinds"]), many=table.get("many", True))


def _choice(table: dict[str, Any]) -> Choice:
    return Choice(
        code=table["code"],
        key=table["key"],
        set=table.get("set", {}),
        fill=tuple(table.get("fill", ())),
        drop=tuple(table.get("drop", ())),
    )


def _code_file(file: str | dict[str, Any]) -> CodeFile:
    return CodeFile(name=file, sha256="", length=0) if isinstance(file, str) else CodeFile(**file)


def _shape_fault(fault: Fault) -> Diagnostic:
    """A schema's complaint as a diagnostic, with what was probably meant."""
    if fault.expected == "no such property":
        return _unknown_field(fault.pointer)
    keyword, _, value = fault.expected.partition(": ")
    if keyword == "required":
        return Diagnostic(code="manifest-missing-field", where=fault.pointer, found="", expected=value)
    return Diagnostic(code="manifest-field", where=fault.pointer, found=fault.message, expected=fault.expected)


def _unknown_field(pointer: str) -> Diagnostic:
    from difflib import get_close_matches

    *parents, name = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    known = _fields_at(parents)
    near = get_close_matches(name, known, n=1, cutoff=0.5)
    return Diagnostic(
        code="manifest-unknown-field",
        where=pointer,
        found=name,
        expected=", ".join(sorted(known)),
        hint=f"did you mean {near[0]}?" if near else "",
    )


def _fields_at(path: list[str]) -> list[str]:
    """The fields that the manifest schema knows in the table at `path`."""
    schema: Any = manifest_schema()
    for part in path:
        schema = schema.get("items", {}) if part.isdecimal() else schema.get("properties", {}).get(part, {})
    return list(schema.get("properties", {}))
