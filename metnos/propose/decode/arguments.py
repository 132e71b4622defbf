"""What an argument may be given, from its schema, its part in the contract, the request and the steps so far.

Law: derived from declarations, never from a tool's name. The table says where a text may come from:

| the argument is | its texts |
|---|---|
| an enumeration | its values |
| a field of the input | the fields that the entries certainly have; of entries with unknown fields, words of the request |
| in ISO 8601 | days, dates and periods of the request, as `${RUNTIME:…}` or as written |
| a target, or trusted | what the request names; for a reading, words that nothing explains too |
| the user's own text | quoted text; where it is required also passages of the request and figures of earlier steps |
| a pattern (its default has a `*`) | patterns made of kinds of files, names and words |
| another text | quoted text, names, words that nothing explains; where it is required passages too |

What has a default is never written as its default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from metnos.checks.bound import worst_effect
from metnos.checks.guards.effects import REPLACING, mildest
from metnos.checks.shapes import ANY, Shape
from metnos.contracts.kinds import is_open
from metnos.contracts.schemas import validator_for
from metnos.plan.jsondata import is_list, is_object
from metnos.plan.spelling import parse_string
from metnos.propose.decode.choices import (
    NOTHING,
    Argument,
    Either,
    Field,
    Fields,
    Listed,
    Node,
    OneOf,
    Several,
    Value,
    either,
    escaped,
    plainest,
    unescaped,
    unique,
)
from metnos.propose.decode.endings import is_file_name
from metnos.propose.decode.entry import BYTES, TIMES, Entry, fields_of
from metnos.propose.decode.offers import HERE
from metnos.propose.decode.results import collections, figures, results
from metnos.propose.decode.said import plain
from metnos.propose.decode.state import admits
from metnos.propose.decode.targets import Targets

if TYPE_CHECKING:
    from metnos.checks.bound import Bound
    from metnos.propose.decode.offers import Offers
    from metnos.propose.decode.state import Sofar

UNLIKE: Final = "ne"
"""The comparison that keeps what was not asked for, unless the request says "not"."""
PICKED: Final = "pick"
NUMBERS: Final = "numbers"
HEADER: Final = "header"
AUTO: Final = "auto"
"""What a request speaks of (`mentions.toml`)."""
MATCHES: Final = "match"
"""The kind of what was found inside of files."""
WRITING: Final = "text"
"""The kind of what is put into files."""
MOST_VALUES: Final = 200
MOST_WRITTEN: Final = 2
"""Values of an enumeration that is always written out."""
DEEPEST: Final = 4
"""Levels of objects and lists in an argument."""


Known = dict[tuple[str, str, bool, Entry | None], Argument | None]
"""(tool, argument, required, what is handed) → what may be written."""


class Arguments:
    """The arguments of one tool, in one state."""

    def __init__(
        self,
        bound: Bound,
        sofar: Sofar,
        offers: Offers,
        entry: Entry | None = None,
        known: Known | None = None,
        formats: frozenset[str] = frozenset(),
    ) -> None:
        """Prepare.

        Args:
            bound: The tool.
            sofar: The steps so far.
            offers: Of the request.
            entry: What the tool is handed.
            formats: Endings of files for which this family has readers of their own ("csv").
            known: What was found for arguments that do not look at the steps; filled here.
        """
        self.bound = bound
        self.known: Known = {} if known is None else known
        self.contract = bound.contract
        self.sofar = sofar
        self.offers = offers
        self.entry = entry
        self.properties = cast("dict[str, Any]", bound.contract.args.get("properties", {}))
        self.formats = formats
        self.defs = cast("dict[str, Any]", bound.contract.args.get("$defs", {}))
        self.acts = any(rule.effect != "read" for rule in bound.contract.effects)
        self.decides = frozenset(name for rule in bound.contract.effects for name in rule.when or ())

    def argument(self, name: str, *, required: bool, only: tuple[Value, ...] | None = None) -> Argument | None:
        """`name`, and what may be written there; None: nothing.

        Args:
            name: Of the contract.
            required: It has to be written.
            only: Values that replace those of the table.
        """
        if only is not None or self._looks_back(name, required):
            return self._made(name, required, only)
        entry = self.entry if name in self.contract.field_of_input else None
        key = (self.contract.name, name, required, entry)
        if key not in self.known:
            self.known[key] = self._made(name, required, None)
        return self.known[key]

    def _looks_back(self, name: str, required: bool) -> bool:
        """Whether what may be written depends on the steps so far."""
        contract = self.contract
        if not self.sofar.steps:
            return False
        if (required and name in contract.own_text) or name in contract.targets or name in contract.trusted:
            return True
        return contract.consumes is None and contract.origin != "catalog"

    def _made(self, name: str, required: bool, only: tuple[Value, ...] | None) -> Argument | None:
        schema = self.properties.get(name)
        if not is_object(schema):
            schema = {}
        if not required and only is None and not self._is_offered(name, schema):
            return None
        required = required or self.must_say(name) or self._is_wanted(name) or bool(self._as_file(schema))
        node = self._node(name, schema, required, 0) if only is None else OneOf(only)
        node = self._valid(name, schema, node, required)
        return None if node is None else Argument(name, node, required)

    def must_say(self, name: str) -> bool:
        """Whether an option is always written out: one of two ways in which a transform treats a field."""
        schema = self.properties.get(name)
        choices = is_object(schema) and "enum" in schema and len(schema["enum"]) <= MOST_WRITTEN
        return bool(choices) and self.contract.resources == () and bool(self.contract.field_of_input)

    def _is_wanted(self, name: str) -> bool:
        """Whether an option makes the stronger effect that the request says in so many words ("overwrite")."""
        said = (word for intent in self.sofar.request.intents for word in (intent.verb, *intent.modifiers))
        return name in self.decides and not REPLACING.isdisjoint(said)

    def _is_offered(self, name: str, schema: dict[str, Any]) -> bool:
        """Whether the request gives a reason to write an option."""
        if name in self.contract.field_of_input:
            return self._is_spoken_of(name, schema)
        if name in self.decides or name in self.contract.targets:
            return True
        if "enum" in schema:
            return (
                self.must_say(name)
                or bool(self._as_file(schema))
                or (
                    # What is found out by itself is said only where it is spoken of: "x.jsonl" says no format.
                    (schema.get("default") != AUTO or self.offers.mentions(name))
                    and any(isinstance(each, str) and self.offers.says(each) for each in schema["enum"])
                )
            )
        named = schema.get("type")
        if named == "array" and self._names_columns(schema.get("items")):
            # A reader learns the columns, and what is in them: they are said only where the request speaks of just that.
            return self.offers.mentions(NUMBERS if name == NUMBERS else HEADER)
        if named == "boolean":
            return self.offers.mentions(name)
        if named in ("integer", "number") and not self.contract.lenient:
            if schema.get("unit") == BYTES:
                return "default" not in schema and self.offers.bounds(name)
            return self.offers.mentions(name)
        return True

    def _is_spoken_of(self, name: str, schema: dict[str, Any]) -> bool:
        """Whether a field that may be left out is meant: some columns of all, or one that is reckoned with."""
        if schema.get("type") == "array":
            return self.offers.columns.some or self.offers.mentions(name)
        return True

    def _as_file(self, schema: dict[str, Any]) -> list[str]:
        """The way to write a text that goes with the file that it is for ("csv" for `x.csv`), unless it is the default."""
        produces = self.contract.produces
        if "enum" not in schema or produces is None or produces.kind != WRITING or self.contract.resources != ():
            return []
        found = [each for each in schema["enum"] if each in self.offers.written_as]
        return [] if schema.get("default") in found else found[:1]

    # --- by type

    def _node(self, name: str, schema: dict[str, Any], required: bool, depth: int) -> Node:
        schema = self._followed(schema)
        if "const" in schema or "enum" in schema:
            found: list[Any] = schema.get("enum", [schema.get("const")])
            if not required and depth == 0:
                found = [each for each in found if not isinstance(each, str) or self.offers.says(each)]
            found = self._as_file(schema) or found
            if not self.offers.mentions("reversed"):
                found = [each for each in found if each != UNLIKE]
            return OneOf(tuple(Value(escaped(each)) for each in found))
        for word in ("anyOf", "oneOf"):
            if word in schema:
                return plainest([self._node(name, part, required, depth) for part in schema[word] if is_object(part)])
        named = schema.get("type", "object" if "properties" in schema else ["string", "number"])
        if depth == 0 and self._are_picked(name, named):
            named = "array"
        types: list[str] = [named] if isinstance(named, str) else list(named)
        nodes = [self._of_type(each, name, schema, required, depth) for each in types]
        return plainest(nodes)

    def _of_type(self, kind: str, name: str, schema: dict[str, Any], required: bool, depth: int) -> Node:
        if kind == "boolean":
            return OneOf((Value(True), Value(False)))
        if kind in ("integer", "number"):
            return OneOf(self._numbers(kind, name, schema, required))
        if kind == "string":
            return OneOf(self._texts(name, schema, required)[:MOST_VALUES])
        if kind == "array" and depth < DEEPEST:
            return self._list(name, schema, required, depth)
        if kind == "object" and depth < DEEPEST:
            return self._object(name, schema, depth)
        return NOTHING

    def _followed(self, schema: dict[str, Any]) -> dict[str, Any]:
        for _ in range(DEEPEST):
            reference = schema.get("$ref")
            if not isinstance(reference, str):
                return schema
            found = self.defs.get(reference.removeprefix("#/$defs/"))
            schema = found if is_object(found) else {}
        return schema

    def _list(self, name: str, schema: dict[str, Any], required: bool, depth: int) -> Node:
        if name in self.contract.targets and self.offers.lists:
            targets = Targets(self.contract, self.offers, self.sofar, self.formats)
            return OneOf(tuple(names for names in self.offers.lists if targets.takes_all(names)))
        items = schema.get("items")
        inner = self._node(name, items if is_object(items) else {}, required, depth + 1)
        if inner == NOTHING and name not in self.contract.field_of_input and self._names_columns(items):
            inner = OneOf(self.offers.columns.measured)
        least = max(1, int(schema.get("minItems", 1)))
        most = int(schema.get("maxItems", 8))
        if isinstance(inner, OneOf):
            found = inner.values[:60]
            return Several(found, least, min(most, 8, len(found))) if len(found) >= least else NOTHING
        return Listed(inner, least, max(least, min(most, 4)))

    def _are_picked(self, name: str, types: Any) -> bool:
        """Whether these are the fields that are kept, of which there may be several."""
        produces = self.contract.produces
        picks = produces is not None and produces.rule == PICKED and produces.roles.get("fields") == name
        return picks and is_list(types) and "array" in types

    def _names_columns(self, items: Any) -> bool:
        """Whether a list of texts can only be fields of what is made: those come with the data, so words name them."""
        produces = self.contract.produces
        return is_object(items) and items.get("type") == "string" and produces is not None and is_open(produces.kind)

    def _object(self, name: str, schema: dict[str, Any], depth: int) -> Node:
        wanted = set(schema.get("required", ()))
        found: list[Field] = []
        for field, part in cast("dict[str, Any]", schema.get("properties", {})).items():
            node = self._node(name, part if is_object(part) else {}, field in wanted, depth + 1)
            if node != NOTHING:
                found.append(Field(field, node, field in wanted))
        there = {field.name for field in found if field.required}
        return Fields(tuple(found)) if there and there == wanted else NOTHING

    # --- numbers

    def _numbers(self, kind: str, name: str, schema: dict[str, Any], required: bool) -> tuple[Value, ...]:
        unit = schema.get("unit")
        if unit == BYTES:
            found = (*self.offers.sizes, *([Value(0)] if self.offers.mentions("zero") else []))
            if name.startswith("min"):  # at least nothing: that is everything
                found = tuple(value for value in found if value.data)
        elif kind == "integer":
            bound = name.startswith(("min", "max"))
            found = (*(self.offers.integers if bound else self.offers.counts), *self.offers.durations)
        else:
            found = self.offers.numbers
        if required and self.contract.lenient is False:
            found = (*found, Value(1))
        if required and not found:
            found = tuple(Value(schema[word]) for word in ("default", "minimum") if word in schema) or (Value(1),)
        return (*found, *self._results(kind))

    # --- texts

    def _texts(self, name: str, schema: dict[str, Any], required: bool) -> tuple[Value, ...]:
        contract, offers = self.contract, self.offers
        default = schema.get("default")
        if name in contract.field_of_input:
            return fields_of(self.contract, name, self.entry, offers)
        if schema.get("unit") == TIMES or schema.get("format") in ("date-time", "date"):
            return (*offers.times, *self._inputs("string"))
        if name in contract.targets or name in contract.trusted:
            words = () if self.acts or default == HERE or offers.folders else offers.unexplained_there
            said = () if offers.names else words
            return unique(
                (*Targets(contract, offers, self.sofar, self.formats).of(name, default, said), *self._inputs("string"))
            )
        if name in contract.own_text:
            return self._own_texts(name, required=required)
        if isinstance(default, str) and "*" in default:
            return offers.globs
        free = (*offers.quoted, *self._inputs("string"))
        if not required:
            return free if default is None else ()
        return (*free, *offers.names, *self._results("string"), *offers.times, *offers.extensions, *offers.passages)

    def _own_texts(self, name: str, *, required: bool) -> tuple[Value, ...]:
        """Texts of the person's own."""
        contract, offers = self.contract, self.offers
        if self.acts and offers.contents:
            return offers.contents
        searches = contract.produces is not None and contract.produces.kind == MATCHES
        if searches and offers.sought:
            return (*map(plain, offers.sought), *self._inputs("string"))
        if not required:
            return offers.quoted
        given = (*self._inputs("string"), *figures(self.sofar, self.offers))
        fed = contract.consumes is not None and contract.consumes.into == name
        if self.acts and self.sofar.has_found:  # what was found is written, and not the words that speak of it
            return unique((*given, *offers.quoted))
        if searches:  # no passage: words that say something else
            names = (
                name for name in offers.names if not is_file_name(str(name.data)) and name.json not in offers.arrivals
            )
            numbers = (plain(slot.text) for slot in offers.of({"integer"}))
            return unique((*self._inputs("string"), *offers.quoted, *offers.unexplained, *names, *numbers))
        words = () if self.sofar.steps else offers.unexplained
        return unique((*given, *offers.quoted, *words)) if fed else (*given, *offers.passages)

    def is_time(self, name: str) -> bool:
        """Whether an argument is a day or an instant."""
        schema = self.properties.get(name)
        return is_object(schema) and schema.get("unit") == TIMES

    def _inputs(self, kind: str) -> tuple[Value, ...]:
        given = self.sofar.context.inputs
        return tuple(Value(f"${{INPUT:{name}}}") for name, schema in given.items() if schema.get("type") == kind)

    def _results(self, kind: str) -> tuple[Value, ...]:
        """Single values of earlier steps, for tools that are handed nothing otherwise (foreign ones, a host's)."""
        foreign = self.contract.consumes is None and self.contract.origin != "catalog"
        return results(self.sofar, kind) if foreign else ()

    def collections(self, name: str) -> tuple[Value, ...]:
        """References to collections of earlier steps, for an argument that takes one (a second input)."""
        return collections(self.sofar, self.bound.args.get(name, ANY))

    # --- what holds of all of them

    def _valid(self, name: str, schema: dict[str, Any], node: Node, required: bool) -> Node | None:
        """Without what the schema refuses, what is the default, and what makes an effect that was not asked for."""
        if isinstance(node, Either):
            kept = [self._valid(name, schema, each, required) for each in node.nodes]
            node = either([each for each in kept if each is not None])
        if isinstance(node, OneOf):
            shape = self.bound.args.get(name, ANY)
            default = schema.get("default", NOTHING) if not required else NOTHING
            values = tuple(value for value in unique(node.values) if self._is_good(name, value, shape, default))
            return OneOf(values) if values else None
        return None if isinstance(node, Several) and not node.items else node

    def _is_good(self, name: str, value: Value, shape: Shape, default: Any) -> bool:
        if value.data is default or (value.data == default and type(value.data) is type(default)):
            return False
        if name in self.decides:
            effect = worst_effect(self.bound, {name: value.data}, set())
            weak = self._is_wanted(name) and effect == mildest(self.contract)
            if weak or not admits(self.sofar.request, effect):
                return False
        if isinstance(value.data, str) and any(not isinstance(part, str) for part in parse_string(value.data)):
            return True  # a reference: the validator judges it
        if shape.schema is None or (shape.exact is not None and type(value.data) in shape.exact):
            return True
        return validator_for(shape.schema).is_valid(unescaped(value.data))
