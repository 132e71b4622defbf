"""A gap of a checked plan, filled by a model: one short value of a declared form.

Law: the value fits its schema or there is none; it is bounded in length, in tokens and in time. What the model is shown
of tool results is wrapped as untrusted. It names no tool and adds no step: whatever comes back is one value.
"""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

import msgspec

from metnos.plan.jsondata import JSONFault, loads_strict
from metnos.propose.models.ports import ROLES, Message, ModelFault, Stop, Usage
from metnos.propose.models.registry import decodes
from metnos.propose.untrusted import RULE, wrapped
from metnos.turn.arguments import check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metnos.propose.models.config import ModelConfig
    from metnos.propose.models.ports import ChatModel, DecodingModel, Role
    from metnos.propose.models.registry import RoleModel

LONGEST: Final = 2_000
"""Characters of a text whose schema sets no limit."""
MOST_TOKENS: Final = 1_024
SYSTEM: Final = f"""\
You fill one gap in a plan that has been checked. Answer with the value alone, as JSON of the form that is asked for.
Write in the language that is named. Use only what you are shown; where nothing fits, write the shortest honest value.
{RULE}"""


class Models(Protocol):
    """What is needed of a registry."""

    def role(self, role: Role) -> RoleModel:
        """The models of a role, as one."""
        ...


class Shown(msgspec.Struct, frozen=True):
    """Something that a tool brought."""

    text: str
    source: str
    retrieved_at: str = ""


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be filled."""

    name: str
    prompt: str
    schema: dict[str, Any]
    role: str = "fast"
    request: str = ""
    language: str = "en"
    shown: tuple[Shown, ...] = ()


class Filled(msgspec.Struct, frozen=True, kw_only=True):
    """The value, and what it cost."""

    value: Any
    model: str
    usage: dict[str, int]


def fill(models: Models, gap: Gap, *, stop: Stop) -> Filled:
    """Have the gap filled by the first model of its role that can.

    Raises:
        ModelFault: None could; `model-reply` where what came back does not fit the schema.
    """
    schema = bounded(gap.schema)
    messages = (Message("system", SYSTEM), Message("user", question(gap)))
    role = gap.role if gap.role in ROLES else "fast"

    def work(model: ChatModel, _config: ModelConfig, limits: Stop) -> tuple[Any, Usage, str]:
        written, usage = _written(model, messages, schema, limits)
        wrong = check(schema, written)
        if wrong is not None:
            raise ModelFault("model-reply", f"the value of {gap.name} does not fit its schema", "", usage)
        return written, usage, model.name

    done = models.role(role).attempt(work, stop=stop)
    value, usage, model = done.value
    return Filled(value=value, model=model, usage=counted(usage + done.wasted))


def counted(usage: Usage) -> dict[str, int]:
    """As `TurnResult.usage` counts fillers: apart from planning."""
    return {"filler_calls": usage.calls, "filler_tokens_in": usage.tokens_in, "filler_tokens_out": usage.tokens_out}


def question(gap: Gap) -> str:
    """The message that the value answers."""
    parts = [f"Language: {gap.language}", f"What the person asked for: {gap.request}" if gap.request else ""]
    parts += [wrapped(one.text, one.source, one.retrieved_at) for one in gap.shown]
    parts.append(f"The gap: {gap.prompt}")
    return "\n\n".join(filter(None, parts))


def bounded(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema, where a text of it without a limit has one."""
    if schema.get("type") == "string" and not {"maxLength", "enum", "const"} & schema.keys():
        return {**schema, "maxLength": LONGEST}
    return schema


def _written(model: ChatModel, messages: Sequence[Message], schema: dict[str, Any], stop: Stop) -> tuple[Any, Usage]:
    if decodes(model):
        found = _decoded(model, messages, schema, stop)
        if found is not None:
            return found
    return _completed(model, messages, schema, stop)


def _decoded(
    model: DecodingModel, messages: Sequence[Message], schema: dict[str, Any], stop: Stop
) -> tuple[Any, Usage] | None:
    """Under the schema as a grammar; None: it has a keyword that no grammar is made of."""
    with closing(model.session(messages[:1], stop=stop)) as session:
        session.ask(messages[1].content)
        try:
            done = session.decode(f"start: %json {json.dumps(schema)}\n", most_tokens=_tokens(schema))
        except ValueError:
            return None
        return _read(done.text, session.usage), session.usage


def _completed(model: ChatModel, messages: Sequence[Message], schema: dict[str, Any], stop: Stop) -> tuple[Any, Usage]:
    """As an object with one field, which is what servers hold an answer to."""
    inner = {name: part for name, part in schema.items() if name != "$defs"}
    whole: dict[str, Any] = {
        "type": "object",
        "properties": {"value": inner},
        "required": ["value"],
        "additionalProperties": False,
        **({"$defs": schema["$defs"]} if "$defs" in schema else {}),
    }
    told = Message("user", f'{messages[1].content}\n\nAnswer as {{"value": …}}, of this schema: {json.dumps(whole)}')
    answer = model.complete((messages[0], told), most_tokens=_tokens(schema) + 16, stop=stop, schema=whole)
    if answer.finish == "length":
        raise ModelFault("model-length", "the value did not come to an end", "", answer.usage)
    read = _read(answer.text, answer.usage)
    if not isinstance(read, dict) or "value" not in read:
        raise ModelFault("model-reply", "there is no field `value` in what it wrote", "", answer.usage)
    return cast("dict[str, Any]", read)["value"], answer.usage


def _read(text: str, usage: Usage) -> Any:
    try:
        return loads_strict(text.strip())
    except JSONFault as fault:
        raise ModelFault("model-reply", f"what it wrote is no JSON: {fault.message}", "", usage) from fault


def _tokens(schema: dict[str, Any]) -> int:
    """A token is seldom less than a character."""
    length = schema.get("maxLength")
    return min(MOST_TOKENS, 16 + length) if isinstance(length, int) and not isinstance(length, bool) else MOST_TOKENS
