"""Names of OpenTelemetry's semantic conventions for generative AI, pinned: the one file that spells them.

Law: names only. Source: `open-telemetry/semantic-conventions` 1.41 and its successor for this subject,
`semantic-conventions-genai` (operations `plan`, `invoke_agent`, `execute_tool`, `chat`; status: development). A new
version of the conventions is a change here and a line in the changelog.

A turn as spans: `invoke_agent` is the root; each plan is a `plan` span below it, the call of the model is the child of
its plan; each call of a tool is an `execute_tool` span below the root, beside the plan that asked for it.
"""

from __future__ import annotations

from typing import Final

SCHEMA_URL: Final = "https://opentelemetry.io/schemas/1.41.0"

OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
SYSTEM: Final = "gen_ai.system"
"""What `PROVIDER` was called up to 1.36."""
AGENT_NAME: Final = "gen_ai.agent.name"
AGENT_VERSION: Final = "gen_ai.agent.version"
CONVERSATION: Final = "gen_ai.conversation.id"
REQUEST_MODEL: Final = "gen_ai.request.model"
RESPONSE_MODEL: Final = "gen_ai.response.model"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
TOOL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_RESULT: Final = "gen_ai.tool.call.result"
TOOL_DEFINITIONS: Final = "gen_ai.tool.definitions"
ERROR_TYPE: Final = "error.type"

CHAT: Final = "chat"
PLAN: Final = "plan"
EXECUTE_TOOL: Final = "execute_tool"
INVOKE_AGENT: Final = "invoke_agent"
MODEL_CALLS: Final = frozenset({CHAT, "generate_content", "text_completion"})

INTERNAL: Final = 1
CLIENT: Final = 3
"""Kinds of a span in OTLP."""
STATUS_OK: Final = 1
STATUS_ERROR: Final = 2

TURN: Final = "metnos.turn.id"
OUTCOME: Final = "metnos.turn.outcome"
CODE: Final = "metnos.turn.code"
MESSAGE: Final = "metnos.error.message"
PLAN_NUMBER: Final = "metnos.plan.number"
PLAN_SOURCE: Final = "metnos.plan.source"
PLAN_DIGEST: Final = "metnos.plan.digest"
PLAN_REJECTED: Final = "metnos.plan.rejected_by"
LABEL: Final = "metnos.label."
"""What begins our own names, which the conventions have none for."""
