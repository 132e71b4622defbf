"""The rules of a manifest that no JSON Schema can say. `RULES` is the table; each rule returns its faults.

Law: pure; a rule looks at a table whose shape is right already, and reports everything it finds.

| rule | code |
|---|---|
| arguments are a closed object | manifest-args |
| the last effect has no `when`, the others have one; `when` names arguments and possible values | manifest-effects |
| an effectful executor acts on one thing: several targets only if none is a list; it is not inline | manifest-effects |
| arguments named anywhere are arguments | manifest-argument |
| a choice sets possible values, and touches each argument once | manifest-argument |
| `missing_arg` takes error, null, drop | manifest-argument |
| produced field is in the result, as a list if many | manifest-result-field |
| kinds exist; a transform rule needs an input; roles are those of the rule | manifest-kind |
| families exist in the vocabulary | manifest-family |
| code files are listed once, `executor.py` among them | manifest-code-file |
| shipped: name is verb_object[_provider] of one of its families | manifest-name |
| shipped: described in English and Italian | manifest-description |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from metnos.contracts import vocabulary
from metnos.contracts.kinds import KINDS
from metnos.contracts.model import ROLES
from metnos.plan.diagnostics import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Table = dict[str, Any]
    Rule = Callable[[Table], Iterable[Diagnostic]]

LANGUAGES = ("en", "it")
MISSING = frozenset({"error", "null", "drop"})
_NAMED_LISTS = ("targets", "trusted", "own_text", "sensitive", "opens_secrets", "field_of_input")


def _near(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    return next((f"did you mean {near}?" for near in get_close_matches(name, list(known), n=1, cutoff=0.5)), "")


def _properties(table: Table) -> dict[str, Any]:
    return table["args"].get("properties", {})


def _get(schema: Any, keyword: str, otherwise: Any) -> Any:
    """A keyword of a schema, which may also be `true` or `false`."""
    return cast("dict[str, Any]", schema).get(keyword, otherwise) if isinstance(schema, dict) else otherwise


def closed_arguments(table: Table) -> Iterator[Diagnostic]:
    args = table["args"]
    if args.get("type") != "object":
        yield Diagnostic(code="manifest-args", where="/args/type", found=str(args.get("type")), expected="object")
    if args.get("additionalProperties") is not False:
        yield Diagnostic(code="manifest-args", where="/args/additionalProperties", found="open", expected="false")
    for name in args.get("required", ()):
        if name not in _properties(table):
            yield _no_argument(table, name, "/args/required")


def _no_argument(table: Table, name: str, where: str) -> Diagnostic:
    known = _properties(table)
    return Diagnostic(
        code="manifest-argument", where=where, found=name, expected=", ".join(known), hint=_near(name, known)
    )


def named_arguments(table: Table) -> Iterator[Diagnostic]:
    """Every place that names an argument."""
    for name, where in _named(table):
        if name not in _properties(table):
            yield _no_argument(table, name, where)


def _named(table: Table) -> Iterator[tuple[str, str]]:
    for listed in _NAMED_LISTS:
        yield from ((name, f"/{listed}/{index}") for index, name in enumerate(table.get(listed, ())))
    for index, group in enumerate(table.get("requires_one_of", ())):
        yield from ((name, f"/requires_one_of/{index}/{at}") for at, name in enumerate(group))
    for index, resource in enumerate(table.get("resources", ())):
        if "arg" in resource:
            yield resource["arg"], f"/resources/{index}/arg"
    if "consumes" in table:
        yield table["consumes"]["into"], "/consumes/into"
    if "missing_arg" in table:
        yield table["missing_arg"], "/missing_arg"
    for index, choice in enumerate(table.get("choice", ())):
        for part in ("set", "fill", "drop"):
            yield from ((name, f"/choice/{index}/{part}") for name in choice.get(part, ()))
    produces = table.get("produces", {})
    yield from ((name, f"/produces/roles/{role}") for role, name in produces.get("roles", {}).items())
    yield from ((name, f"/produces/outer/{name}") for name in produces.get("outer", {}))


def missing_argument(table: Table) -> Iterator[Diagnostic]:
    schema: Any = _properties(table).get(table.get("missing_arg", ""))
    if schema is not None and not MISSING.issuperset(_get(schema, "enum", ("",))):
        expected = "enum of error, null, drop"
        yield Diagnostic(code="manifest-argument", where="/missing_arg", found=table["missing_arg"], expected=expected)


def choices(table: Table) -> Iterator[Diagnostic]:
    """A choice changes an argument in one way, and to a value that the argument may have."""
    for index, choice in enumerate(table.get("choice", ())):
        where = f"/choice/{index}"
        named = [name for part in ("set", "fill", "drop") for name in choice.get(part, ())]
        for name in sorted({name for name in named if named.count(name) > 1}):
            yield Diagnostic(code="manifest-argument", where=where, found=name, expected="each argument once")
        for fault in _when(table, choice.get("set", {}), f"{where}/set"):
            if fault.code != "manifest-argument":
                yield Diagnostic(
                    code="manifest-argument", where=fault.where, found=fault.found, expected=fault.expected
                )


def effects(table: Table) -> Iterator[Diagnostic]:
    rules = table["effect"]
    for index, rule in enumerate(rules):
        last = index == len(rules) - 1
        if last == ("when" in rule):
            expected = "no `when` in the last rule" if last else "`when` in every rule but the last"
            yield Diagnostic(
                code="manifest-effects", where=f"/effect/{index}", found=str(rule)[:200], expected=expected
            )
        yield from _when(table, rule.get("when", {}), f"/effect/{index}/when")
    if any(rule["class"] != "read" for rule in rules):
        yield from _effectful(table)


def _when(table: Table, when: Table, where: str) -> Iterator[Diagnostic]:
    from metnos.contracts.schemas import validator_for

    known = _properties(table)
    for name, value in when.items():
        if name not in known:
            yield _no_argument(table, name, f"{where}/{name}")
        elif _get(known[name], "$ref", None) is None and known[name] not in (True, False):
            for fault in validator_for(known[name])(value):
                yield Diagnostic(
                    code="manifest-effects", where=f"{where}/{name}", found=fault.message, expected=fault.expected
                )


def _effectful(table: Table) -> Iterator[Diagnostic]:
    targets = table.get("targets", ())
    lists = [name for name in targets if _may_be_list(_properties(table).get(name))]
    if len(targets) > 1 and lists:
        expected = "one target, or several of which none is a list, since it has an effect"
        yield Diagnostic(code="manifest-effects", where="/targets", found=", ".join(lists), expected=expected)
    if table.get("placement") == "inline":
        expected = "worker, since it has an effect"
        yield Diagnostic(code="manifest-effects", where="/placement", found="inline", expected=expected)


def _may_be_list(schema: Any) -> bool:
    """Whether an argument of this schema may hold more than one thing."""
    among = _get(schema, "anyOf", None) or _get(schema, "oneOf", None)
    if among is not None:
        return any(_may_be_list(one) for one in among)
    types = _get(schema, "type", "array")
    return "array" in ([types] if isinstance(types, str) else types)


def dataflow(table: Table) -> Iterator[Diagnostic]:
    consumes, produces = table.get("consumes"), table.get("produces")
    for index, kind in enumerate(consumes["kinds"] if consumes else ()):
        yield from _kind(kind, f"/consumes/kinds/{index}")
    if consumes is None and table.get("field_of_input"):
        yield Diagnostic(code="manifest-kind", where="/field_of_input", found="no input", expected="[consumes]")
    if produces is not None:
        yield from _kind(produces["kind"], "/produces/kind")
        if consumes is None and produces.get("rule", "fixed") != "fixed":
            yield Diagnostic(
                code="manifest-kind",
                where="/produces/rule",
                found=produces["rule"],
                expected="fixed without [consumes]",
            )
        yield from _roles(produces)


def _roles(produces: Table) -> Iterator[Diagnostic]:
    """Roles are those of the rule, `fields` among them; only a collection has entries to type."""
    roles, known = produces.get("roles", {}), ROLES.get(produces.get("rule", "fixed"), frozenset[str]())
    for role in roles:
        if role not in known:
            expected = ", ".join(sorted(known)) or "none with this rule"
            yield Diagnostic(code="manifest-kind", where=f"/produces/roles/{role}", found=role, expected=expected)
    if roles and ("fields" not in roles or not produces.get("many", True)):
        expected = "the role fields, and many = true"
        yield Diagnostic(code="manifest-kind", where="/produces/roles", found=", ".join(roles), expected=expected)


def _kind(kind: str, where: str) -> Iterator[Diagnostic]:
    if kind not in KINDS:
        yield Diagnostic(
            code="manifest-kind", where=where, found=kind, expected=", ".join(KINDS), hint=_near(kind, KINDS)
        )


def consumed_shape(table: Table) -> Iterator[Diagnostic]:
    consumes = table.get("consumes")
    schema: Any = _properties(table).get(consumes["into"]) if consumes else None
    if consumes and _get(schema, "type", None) is not None:
        is_list: bool = schema["type"] == "array"
        if is_list != consumes.get("many", True):
            expected = "an array, since many is true" if not is_list else "a single entry, since many is false"
            yield Diagnostic(
                code="manifest-argument", where="/consumes/into", found=consumes["into"], expected=expected
            )


def produced_field(table: Table) -> Iterator[Diagnostic]:
    produces = table.get("produces")
    if produces is None or produces.get("field", "entries") == "":
        return
    field = produces.get("field", "entries")
    known = table["result"].get("properties", {})
    required = table["result"].get("required", ())
    if field not in known or field not in required:
        found = f"{field} (optional)" if field in known else field
        expected = "a required property of [result]"
        yield Diagnostic(
            code="manifest-result-field",
            where="/produces/field",
            found=found,
            expected=expected,
            hint=_near(field, known),
        )
    elif produces.get("many", True) and _get(known[field], "type", None) != "array":
        where, found = f"/result/properties/{field}", str(_get(known[field], "type", None))
        yield Diagnostic(code="manifest-result-field", where=where, found=found, expected="array, since many is true")


def families(table: Table) -> Iterator[Diagnostic]:
    for index, family in enumerate(table.get("families", ())):
        if not vocabulary.exists(*family.split(" ")):
            pairs = sorted(" ".join(pair) for pair in vocabulary.PAIRS)
            yield Diagnostic(
                code="manifest-family",
                where=f"/families/{index}",
                found=family,
                expected="a pair of vocabulary.toml",
                hint=_near(family, pairs),
            )


def code_files(table: Table) -> Iterator[Diagnostic]:
    names = [file if isinstance(file, str) else file["name"] for file in table.get("files", ())]
    if "executor.py" not in names:
        yield Diagnostic(
            code="manifest-code-file", where="/files", found=", ".join(names), expected="executor.py among them"
        )
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Diagnostic(code="manifest-code-file", where="/files", found=name, expected="each file once")


def shipped_name(table: Table) -> Iterator[Diagnostic]:
    stems = [family.replace(" ", "_") for family in table.get("families", ())]
    name = table["name"]
    if not any(name == stem or name.startswith(f"{stem}_") for stem in stems):
        expected = ", ".join(f"{stem}[_provider]" for stem in stems) or "families"
        yield Diagnostic(code="manifest-name", where="/name", found=name, expected=expected)


def shipped_descriptions(table: Table) -> Iterator[Diagnostic]:
    for language in LANGUAGES:
        if language not in table["descriptions"]:
            yield Diagnostic(
                code="manifest-description",
                where="/descriptions",
                found=", ".join(table["descriptions"]),
                expected=language,
            )


RULES: tuple[tuple[Rule, bool], ...] = (
    (closed_arguments, False),
    (named_arguments, False),
    (missing_argument, False),
    (choices, False),
    (effects, False),
    (dataflow, False),
    (consumed_shape, False),
    (produced_field, False),
    (families, False),
    (code_files, False),
    (shipped_name, True),
    (shipped_descriptions, True),
)
"""(rule, only for executors of this repository)."""
