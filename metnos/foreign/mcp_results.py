"""What an MCP server says, as plain data: a listed tool, and the result of a call.

Law: pure; objects of the `mcp` package come in, structs and `Result`s go out. Text is never read as JSON: what the
server did not declare as structured stays text.
"""

from __future__ import annotations

from typing import Any

from metnos.foreign.faults import CallFault
from metnos.foreign.model import Tool
from metnos.foreign.pins import pin_of
from metnos.plan.jsondata import JSONFault
from metnos.sdk import Effect, EffectClass, Result

_MOST_SAID = 2_000


def tool_of(listed: Any) -> Tool:
    """A tool as it is now.

    Raises:
        JSONFault: A schema is outside strict JSON.
    """
    name: str = listed.name
    description: str = listed.description or ""
    given: dict[str, Any] = listed.input_schema
    made: dict[str, Any] | None = listed.output_schema
    digest = pin_of(name, description, given, made)
    return Tool(name=name, digest=digest, description=description, input_schema=given, output_schema=made)


def tools_of(listed: list[Any]) -> tuple[dict[str, Tool], dict[str, str]]:
    """Tools by name; and of those that are none, why. Two of one name are none."""
    tools: dict[str, Tool] = {}
    wrong: dict[str, str] = {}
    for each in listed:
        name = str(each.name)
        if name in tools or name in wrong:
            tools.pop(name, None)
            wrong[name] = "the server lists two tools of this name"
            continue
        try:
            tools[name] = tool_of(each)
        except (JSONFault, UnicodeError) as fault:
            wrong[name] = f"its schema is no strict JSON: {fault}"
    return tools, wrong


def result_of(answer: Any, tool: Tool, source: str, effect: EffectClass) -> Result:
    """The result of a call, before the border."""
    texts = [str(block.text) for block in answer.content if block.type == "text"]
    if answer.is_error:
        said = "\n".join(texts)[:_MOST_SAID] or "it failed without saying why"
        raise CallFault("operational", "tool-error", said)
    effects = () if effect == "read" else (Effect(cls=effect, target=f"{source}.{tool.name}"),)
    if tool.output_schema is not None:
        if answer.structured_content is None:
            return Result.failed(
                "data", "foreign-protocol", "it declares structured output and gave none", effects=effects
            )
        return Result.done(answer.structured_content, effects=effects)
    others = [
        block.model_dump(mode="json", by_alias=True, exclude_none=True)
        for block in answer.content
        if block.type != "text"
    ]
    return Result.done({"text": "\n".join(texts), "content": others}, effects=effects)
