"""An OpenAPI 3 document as pinned tools: only the operations that the operator allowed.

Law: pure. Whatever of an operation cannot be sent exactly as it is described keeps that operation out, with the reason;
nothing is guessed. Security schemes are not read: a credential is a header that the operator declared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from metnos.foreign.faults import ImportFault
from metnos.foreign.model import LeftOut, Operation, Parameter, Place, Style, Tool
from metnos.foreign.pins import pin_of
from metnos.foreign.schemas import TooLarge, look_up, of_2020, written_out
from metnos.foreign.tables import is_list, is_table
from metnos.plan.jsondata import JSONFault

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

METHODS = ("get", "put", "post", "delete", "patch", "head", "options")
STYLES: dict[tuple[Place, str, bool, str], Style] = {
    ("path", "simple", False, "array"): "comma",
    ("header", "simple", False, "array"): "comma",
    ("query", "form", True, "array"): "repeat",
    ("query", "form", False, "array"): "comma",
    ("query", "spaceDelimited", False, "array"): "space",
    ("query", "pipeDelimited", False, "array"): "pipe",
    ("query", "form", True, "object"): "fields",
    ("query", "deepObject", True, "object"): "deep",
}
"""(place, style, explode, type) → how a value that is no scalar is written; what is not here is not sent."""
_DEFAULT_STYLE = {"path": "simple", "header": "simple", "query": "form"}
_BODY = "body"


class Unfit(Exception):
    """An operation that cannot be sent as it is described."""


def base_url(document: dict[str, Any], came_from: str, given: str | None) -> str:
    """Where the service is: what the operator said, else the document's first server.

    Raises:
        ImportFault: `import-fault`, it is no http(s) URL.
    """
    servers: Any = document.get("servers")
    first: Any = servers[0] if is_list(servers) and servers else {}
    named = first.get("url") if is_table(first) else None
    url = given or (named if isinstance(named, str) else "")
    if came_from.startswith(("http://", "https://")):
        url = urljoin(came_from, url or "/")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or "{" in url:
        raise ImportFault(
            "import-fault", f"the document names no server that can be used: {url!r}", hint="name it with --url URL"
        )
    return url.rstrip("/")


def read_document(document: Any, allowed: Collection[str]) -> tuple[tuple[Tool, ...], tuple[LeftOut, ...]]:
    """The allowed operations; and those of them that stay out.

    Args:
        document: The parsed document.
        allowed: Operations by `operationId`, or as `METHOD /path`.

    Raises:
        ImportFault: It is no OpenAPI 3 document, or has no operation of a name in `allowed`.
    """
    if not is_table(document) or not str(document.get("openapi", "")).startswith("3."):
        raise ImportFault(
            "import-fault", "this is no OpenAPI 3 document", hint="it says `openapi: 3.…`; version 2 is not read"
        )
    held: dict[str, Any] = document
    tools: list[Tool] = []
    out: list[LeftOut] = []
    offered: list[str] = []
    wanted = set(allowed)
    for name, spelled, method, path, shared, operation in _operations(held):
        offered.append(name)
        if not wanted & {name, spelled}:
            continue
        wanted -= {name, spelled}
        try:
            tools.append(_tool(held, name, method, path, shared, operation))
        except (Unfit, TooLarge, JSONFault) as fault:
            out.append(LeftOut(name=name, reason=str(fault) or type(fault).__name__))
    if wanted:
        known = ", ".join(offered[:20])
        raise ImportFault(
            "import-fault", f"there is no operation {min(wanted)!r}", where=min(wanted), hint=f"there are {known}"
        )
    return tuple(tools), tuple(out)


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, str, str, str, list[Any], dict[str, Any]]]:
    paths: Any = document.get("paths")
    table: dict[str, Any] = paths if is_table(paths) else {}
    for path, held in table.items():
        item: Any = _item(held, document)
        if not is_table(item):
            continue
        shared: Any = item.get("parameters")
        for method in METHODS:
            operation: Any = item.get(method)
            if is_table(operation):
                spelled = f"{method.upper()} {path}"
                named: Any = operation.get("operationId")
                name = named if isinstance(named, str) and named else spelled
                yield name, spelled, method, path, shared if is_list(shared) else [], operation


def _item(held: Any, document: Any) -> Any:
    """What a reference means, itself not followed further."""
    if is_table(held) and isinstance(held.get("$ref"), str):
        return look_up(document, held["$ref"])
    return held


def _tool(
    document: dict[str, Any], name: str, method: str, path: str, shared: list[Any], operation: dict[str, Any]
) -> Tool:
    parameters: list[Parameter] = []
    properties: dict[str, Any] = {}
    required: list[str] = []
    for held in _parameters(document, shared, operation):
        parameter, schema, needed = _parameter(held, properties)
        parameters.append(parameter)
        properties[parameter.argument] = schema
        if needed:
            required.append(parameter.argument)
    body = _body(document, operation)
    if body is not None:
        schema, needed = body
        argument = _free(_BODY, "request", properties)
        parameters.append(Parameter(argument=argument, name=_BODY, place="body", style="json"))
        properties[argument] = schema
        if needed:
            required.append(argument)
    _require_path(path, parameters)
    given = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    made = _response(document, operation)
    if str(document["openapi"]).startswith("3.0"):
        given, made = of_2020(given), of_2020(made)
    said = [operation.get(word) for word in ("summary", "description")]
    description = "\n".join(dict.fromkeys(text.strip() for text in said if isinstance(text, str) and text.strip()))
    return Tool(
        name=name,
        digest=pin_of(name, description, given, made),
        description=description,
        input_schema=given,
        output_schema=made,
        operation=Operation(method=method.upper(), path=path, parameters=tuple(parameters)),
    )


def _parameters(document: dict[str, Any], shared: list[Any], operation: dict[str, Any]) -> list[dict[str, Any]]:
    """Of the path, then of the operation, which override those of the same name and place."""
    own: Any = operation.get("parameters")
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for held in (*shared, *(own if is_list(own) else ())):
        plain: Any = written_out(held, document)
        if not is_table(plain) or not isinstance(plain.get("name"), str) or not isinstance(plain.get("in"), str):
            raise Unfit("a parameter without a name or a place")
        found[plain["in"], plain["name"]] = plain
    return list(found.values())


def _parameter(held: dict[str, Any], taken: dict[str, Any]) -> tuple[Parameter, dict[str, Any], bool]:
    name, place = held["name"], held["in"]
    if place == "header" and name.lower() in ("accept", "content-type", "authorization"):
        raise Unfit(f"the header {name} is declared by the operator, never an argument")
    if place not in ("path", "query", "header"):
        raise Unfit(f"the parameter {name} goes into a {place}")
    schema, style = _schema_and_style(held, place)
    needed = held.get("required") is True or place == "path"
    said = held.get("description")
    if isinstance(said, str) and "description" not in schema:
        schema = {**schema, "description": said}
    argument = _free(name, place, taken)
    return Parameter(argument=argument, name=name, place=place, style=style), schema, needed


def _schema_and_style(held: dict[str, Any], place: Place) -> tuple[dict[str, Any], Style]:
    content: Any = held.get("content")
    if is_table(content):
        media: Any = content.get("application/json")
        if not is_table(media):
            raise Unfit(f"the parameter {held['name']} is no JSON")
        schema: Any = media.get("schema")
        return (schema if is_table(schema) else {}), "json"
    found: Any = held.get("schema")
    schema = found if is_table(found) else {}
    kind = schema.get("type")
    if kind not in ("array", "object"):
        return schema, "one"
    style = held.get("style") or _DEFAULT_STYLE[place]
    explode = held.get("explode")
    exploded = explode if isinstance(explode, bool) else style in ("form", "deepObject")
    known = STYLES.get((place, style, exploded, kind)) or STYLES.get((place, style, False, kind))
    if known is None or (place == "query" and (place, style, exploded, kind) not in STYLES):
        raise Unfit(f"the parameter {held['name']} is written as {style}, which is not known")
    return schema, known


def _body(document: dict[str, Any], operation: dict[str, Any]) -> tuple[dict[str, Any], bool] | None:
    held: Any = written_out(operation.get("requestBody"), document)
    if held is None:
        return None
    media = _json_media(held)
    if media is None:
        raise Unfit("its body is no JSON")
    schema: Any = media.get("schema")
    return (schema if is_table(schema) else {}), held.get("required") is True


def _response(document: dict[str, Any], operation: dict[str, Any]) -> dict[str, Any] | None:
    """The schema of success, if exactly one is described as JSON; None: anything may come."""
    responses: Any = operation.get("responses")
    table: dict[str, Any] = responses if is_table(responses) else {}
    found: list[dict[str, Any]] = []
    for status, held in table.items():
        if not str(status).startswith("2"):
            continue
        media = _json_media(written_out(held, document))
        schema: Any = None if media is None else media.get("schema")
        if not is_table(schema):
            return None
        found.append(schema)
    return found[0] if len(found) == 1 else None


def _json_media(held: Any) -> dict[str, Any] | None:
    content: Any = held.get("content") if is_table(held) else None
    table: dict[str, Any] = content if is_table(content) else {}
    for kind, media in table.items():
        plain = kind.partition(";")[0].strip().lower()
        if (plain == "application/json" or plain.endswith("+json")) and is_table(media):
            return media
    return None


def _require_path(path: str, parameters: list[Parameter]) -> None:
    named = {part.partition("}")[0] for part in path.split("{")[1:]}
    given = {parameter.name for parameter in parameters if parameter.place == "path"}
    if named != given:
        raise Unfit(f"its path names {sorted(named)} and its parameters are {sorted(given)}")


def _free(name: str, place: str, taken: dict[str, Any]) -> str:
    """`name`, or with its place before it where another parameter is called so."""
    found = name
    while found in taken:
        found = f"{place}_{found}"
    return found
