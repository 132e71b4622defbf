"""The ways to plan that are compared: each is a proposer, or runs the whole request itself (ReAct).

Law: the same model, tools, descriptions and worked examples for all. What differs is what the model writes, and what
holds it to it.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, cast

from metnos.plan.notation import parse_lines
from metnos.plan.write import to_json
from metnos.propose.model import Proposal
from metnos.propose.models.ports import Message, ModelFault, Stop
from metnos.propose.models.registry import Registry
from metnos.propose.prompt.examples import shipped
from metnos.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from metnos.propose.candidates import Candidates
    from metnos.propose.model import PlanRequest
    from metnos.propose.models.llama.model import LlamaModel

MOST_TOKENS: Final = 400
DEADLINE_S: Final = 180.0

JSON_GUIDE: Final = """\
Write one plan that does what is asked, as JSON, with the tools listed and nothing else. Answer with the JSON alone.
{"steps": [{"tool": NAME, "args": {...}}, ..., {"tool": "final_answer", "args": {}}]}
- "from_step": N among the args hands step N's result to the argument that takes a collection.
- "${step1}" is the whole result of step 1, "${step1.count}" a field, "${step1.entries[0].path}" of the first entry.
- The last step is final_answer, or {"tool": "ask", "args": {"question": "..."}} for what is missing. If no tool can do
  what is asked: {"tool": "final_answer", "args": {"text": "CANNOT"}} and no other step.
- Never invent a path, an address or a name.
"""
CANNOT: Final = "CANNOT"


MODEL: Final = "measured"
CONTEXT: Final = 8192


def configure(home: Path, weights: Path) -> Path:
    """A home whose every role is played by one GGUF file."""
    home.mkdir(parents=True, exist_ok=True)
    told = f'[models.{MODEL}]\nadapter = "llama"\nfile = {json.dumps(str(weights.resolve()))}\ncontext = {CONTEXT}\n'
    (home / "models.toml").write_text(f'{told}[roles]\nmiddle = ["{MODEL}"]\n', "utf-8")
    return home


@contextmanager
def opened(home: Path) -> Generator[LlamaModel]:
    """That model, for those who ask it themselves."""
    with Registry.open(load_settings(home=home)) as registry:
        yield cast("LlamaModel", registry.opened(MODEL))


def warmed(model: LlamaModel, prefix: Sequence[Message]) -> None:
    """Read what a prompt begins with, once, so that its state is kept as it is for the other arm.

    However long it takes: given up at a deadline it would be begun again at each request, and never be there.
    """
    model.session(prefix, stop=Stop()).close()


def worked() -> list[tuple[str, str]]:
    """Requests and plans of the prompt, by turns in both languages; what cannot be done has no plan."""
    told = shipped()
    plans = [(one.it if number % 2 else one.en, one.plan) for number, one in enumerate(told.worked)]
    return [*((one.en, "") for one in told.impossible), *plans]


def in_json(lines: str) -> str:
    """A plan in line notation as the JSON of a plan file."""
    plan = parse_lines(lines).plan
    assert plan is not None
    return json.dumps(to_json(plan), ensure_ascii=False)


class InJson:
    """The same model asked for a plan in JSON: with no grammar, or with the plain schema of a plan file."""

    def __init__(self, model: LlamaModel, examples: Sequence[tuple[str, str]], *, schema: bool) -> None:
        """Prepare.

        Args:
            model: Asked.
            examples: Request and plan in line notation; empty lines mean that it cannot be done.
            schema: Whether `plan_schema` of the candidates holds the model.
        """
        self.model = model
        self.schema = schema
        self.examples = [
            (said, in_json(lines) if lines else json.dumps(_declined(), ensure_ascii=False)) for said, lines in examples
        ]

    def __call__(self, request: PlanRequest, candidates: Candidates) -> Proposal:
        """One call."""
        from metnos.propose.model import Declined

        messages = [Message("system", f"{JSON_GUIDE}\nTools:\n{candidates.as_text('en')}")]
        for said, plan in self.examples:
            messages += [Message("user", f"Request: {said}"), Message("assistant", plan)]
        messages.append(Message("user", request.as_prompt()))
        stop = Stop(deadline_s=DEADLINE_S)
        try:
            warmed(self.model, messages[:-1])
            reply = self.model.complete(
                messages, most_tokens=MOST_TOKENS, stop=stop, schema=candidates.plan_schema() if self.schema else None
            )
        except ModelFault as fault:
            return Proposal(f"[{fault.code}]", tokens_in=fault.usage.tokens_in, tokens_out=fault.usage.tokens_out)
        spent = {"tokens_in": reply.usage.tokens_in, "tokens_out": reply.usage.tokens_out}
        if CANNOT in reply.text:
            return Declined(**spent)  # pyright: ignore[reportReturnType]
        return Proposal(reply.text, model=reply.model, **spent)


def _declined() -> dict[str, Any]:
    return {"steps": [{"tool": "final_answer", "args": {"text": CANNOT}}]}
