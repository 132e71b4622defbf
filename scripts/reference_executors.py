"""The page of executors: what each shipped manifest promises, laid out. `reference.py` calls it through cog.

Law: every word comes from a manifest, from a table of the product, or from the executor's own code (which failure codes
it can give); this script adds only the words that join them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from metnos.contracts.manifest import read_manifest
from metnos.contracts.model import Contract
from metnos.plan.codes import CODES

ROOT = Path(__file__).resolve().parent.parent
FILES = ("places", "roots", "beneath", "holding", "filing", "writing", "trash", "acting")
"""Modules of `metnos/execute` that stand behind `ctx.files`."""
BOUNDS = {
    "minimum": "from {}",
    "maximum": "to {}",
    "exclusiveMinimum": "above {}",
    "exclusiveMaximum": "below {}",
    "maxLength": "at most {} characters",
    "minItems": "at least {}",
    "maxItems": "at most {}",
}


def executors() -> Iterator[str]:
    """A heading an executor, in the order of their names."""
    for contract in contracts():
        yield from (f"### `{contract.name}`", "", contract.descriptions["en"], "")
        yield from (f"- {fact}" for fact in _facts(contract))
        yield ""
        yield from _table("argument", contract.args, default=True)
        yield from _table("result", contract.result, default=False)


def contracts() -> list[Contract]:
    """Every manifest of `manifests/`.

    Raises:
        SystemExit: One of them is at fault.
    """
    found: list[Contract] = []
    for path in sorted((ROOT / "manifests").glob("*.toml")):
        contract = read_manifest(path.read_bytes())
        if isinstance(contract, list):
            raise SystemExit(f"{path.name}: {contract}")
        found.append(contract)
    return found


def kinds() -> Iterator[str]:
    """Kind → what it is, what it counts as, who makes it, what else it can be read as."""
    from metnos.contracts.kinds import KINDS

    made: dict[str, list[str]] = {}
    for contract in contracts():
        if contract.produces is not None:
            made.setdefault(contract.produces.kind, []).append(contract.name)
    yield "| kind | is | counts as | made by | readers |"
    yield "|---|---|---|---|---|"
    for name, kind in KINDS.items():
        wider = ", ".join(f"`{each}`" for each in kind.is_a)
        readers = ", ".join(f"`{into}`: {_link(by)}" for into, by in sorted(kind.readers.items()))
        makers = ", ".join(map(_link, made.get(name, [])))
        yield f"| `{name}` | {_cell(kind.about)} | {wider} | {makers} | {readers} |"


def refusals() -> Iterator[str]:
    """The codes that `ctx.files` gives."""
    sources = [ROOT / "metnos" / "execute" / f"{name}.py" for name in FILES]
    yield ", ".join(map(_code, sorted(_codes_in(sources)))) + "."


def fields() -> Iterator[str]:
    """Field of a manifest → what the schema says of it."""
    from metnos.contracts.manifest import manifest_schema

    schema = manifest_schema()
    yield "| field | | |"
    yield "|---|---|---|"
    for name, field in schema["properties"].items():
        needed = "required" if name in schema["required"] else ""
        yield f"| `{name}` | {needed} | {_cell(field.get('description') or _limits_said(field))} |"


def _limits_said(field: dict[str, Any]) -> str:
    parts = field.get("properties") or field["items"]["properties"]
    return ", ".join(f"`{name}` ({each.get('unit', '')})".replace(" ()", "") for name, each in parts.items())


# ------------------------------------------------------------------------------------------------ one executor


def _facts(contract: Contract) -> Iterator[str]:
    yield f"Version {contract.version}; runs {_where(contract)}; asked for by {_said(_families(contract))}."
    yield f"Effect: {'; '.join(_effects(contract))}."
    yield from _flow(contract)
    marks = {
        "may be repeated under the same operation id": contract.idempotent,
        "has a probe": contract.probe,
        "can be undone": contract.undo,
        "asks for each entry": contract.per_entry_approval,
    }
    if any(marks.values()):
        yield f"It {', '.join(mark for mark, holds in marks.items() if holds)}."
    for about, names in (
        ("You are shown, when asked", contract.targets),
        ("An untrusted value is asked about in", contract.trusted),
        ("Your own text", contract.own_text),
        ("Sealed secrets are opened in", contract.opens_secrets),
        ("Names fields of the entries", contract.field_of_input),
    ):
        if names:
            yield f"{about}: {_said(names)}."
    for group in contract.requires_one_of:
        yield f"At least one of {_said(group)} is given."
    limits = contract.limits
    yield f"Limits: {limits.timeout_s:g} s, {limits.memory_mb} MiB of memory, {limits.output_bytes} bytes of result."
    yield f"Fails with: {_failures(contract)}."


def _where(contract: Contract) -> str:
    return {"inline": "in this process", "worker": "in a process of its own"}.get(contract.placement, "elsewhere")


def _families(contract: Contract) -> list[str]:
    return [f"{family.verb} {family.object}" for family in contract.families]


def _effects(contract: Contract) -> Iterator[str]:
    for rule in contract.effects:
        conditions = [f"`{name}` is `{_json(value)}`" for name, value in (rule.when or {}).items()]
        if conditions:
            yield f"`{rule.effect}` if {' and '.join(conditions)}"
        else:
            yield f"`{rule.effect}`" + (" otherwise" if len(contract.effects) > 1 else "")


def _flow(contract: Contract) -> Iterator[str]:
    if contract.consumes is not None:
        how = "a list of them" if contract.consumes.many else "one at a time"
        yield f"Consumes {_said(contract.consumes.kinds)}, {how}, into `{contract.consumes.into}`."
    if contract.produces is not None:
        what = f"in `{contract.produces.field}`" if contract.produces.field else "the whole result"
        many = "a list of" if contract.produces.many else "one"
        rule = (
            ""
            if contract.produces.rule == "fixed"
            else f"; the rule is [`{contract.produces.rule}`](#what-a-transform-makes)"
        )
        yield f"Produces {many} `{contract.produces.kind}`, {what}{rule}."


def _failures(contract: Contract) -> str:
    folder = ROOT / "catalog" / "executors" / contract.name
    sources = sorted(folder.glob("*.py"))
    own = ", ".join(map(_code, sorted(_codes_in(sources)))) or "no code of its own"
    on_files = any("ctx.files" in path.read_text(encoding="utf-8") for path in sources)
    return own + (", and what [`ctx.files` refuses](#what-files-refuse)" if on_files else "")


def _codes_in(sources: list[Path]) -> set[str]:
    """The failure codes that stand in these files."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    words = set(re.findall(r'"([a-z0-9]+(?:-[a-z0-9]+)*)"', text))
    return {word for word in words if word in CODES}


# ------------------------------------------------------------------------------------------------ schemas as tables


def _table(title: str, schema: dict[str, Any], *, default: bool) -> Iterator[str]:
    rows = list(_rows("", schema))
    if not rows:
        return
    yield f"| {title} | type |" + (" default |" if default else "") + " |"
    yield "|---|---|" + ("---|" if default else "") + "---|"
    for name, field, needed in rows:
        value = "*required*" if needed else f"`{_json(field['default'])}`" if "default" in field else ""
        about = field.get("description", "")
        if not default:
            about = about if needed else f"*May be absent.* {about}".strip()
        yield f"| `{name}` | {kind_of(field)} |" + (f" {value} |" if default else "") + f" {_cell(about)} |"
    yield ""


def _rows(prefix: str, schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Every field, those of entries below it: name, its schema, whether it is there in any case."""
    for name, field in schema.get("properties", {}).items():
        yield prefix + name, field, name in schema.get("required", ())
        inner: dict[str, Any] = field.get("items", {}) if field.get("type") == "array" else field
        if prefix.count(".") < 2:
            yield from _rows(f"{prefix}{name}{'.' if inner is field else '[].'}", inner)


def kind_of(schema: dict[str, Any]) -> str:
    """A schema in a few words: type, unit, bounds."""
    if "enum" in schema:
        return " ".join(f"`{_json(value)}`" for value in schema["enum"])
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " or ".join(dict.fromkeys(kind_of(each) for each in schema[union]))
    name = _type_of(schema)
    said = [name, *([schema["unit"]] if "unit" in schema else [])]
    said += [words.format(schema[key]) for key, words in BOUNDS.items() if key in schema]
    return _cell(", ".join(said))


def _type_of(schema: dict[str, Any]) -> str:
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " or ".join(dict.fromkeys(map(_type_of, schema[union])))
    kind: str | list[str] = schema.get("type", "any")
    name = kind if isinstance(kind, str) else " or ".join(kind)
    if name != "array":
        return name
    inner = _type_of(schema.get("items", {}))
    return "list" if inner == "any" else f"list of {inner}"


# ------------------------------------------------------------------------------------------------ words


def _json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _code(name: str) -> str:
    return f"[`{name}`](codes.md#{name})"


def _link(name: str) -> str:
    return f"[`{name}`](#{name})"


def _said(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in names)
