"""Reports to look at: made-up turns, hostile ones among them."""

from __future__ import annotations

from random import Random
from typing import Any

from metnos.evaluate.measures.figures import TurnFigures
from metnos.evaluate.reporting.gathering import Gathering, Seen
from metnos.evaluate.reporting.model import Report, StepRow

TOOLS = ("find_files", "sort_entries", "take_entries", "render_table", "read_files", "write_files", "delete_files")
ATTACKS = (
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "\"><svg onload=document.title='owned'>",
    "' onmouseover='document.title=1' x='",
    "<!-- <script> -->",
    "javascript:document.title='owned'",
    "{{ 7 * 7 }} {% raw %} ${7*7}",
    "</style><style>*{display:none}</style>",
    "</title><base href='//evil.example/'>",
    "<a href=https://evil.example/?q>click</a><meta http-equiv=refresh content=0>",
    "\u202egnp.exe\u2066 \x1b[31mred\x07 \u2028line\u2029",
    "]]> <![CDATA[ &lt;b&gt; &amp; \\u003c",
)


def plan(*tools: str, **args: Any) -> dict[str, Any]:
    steps = [
        {"tool": name, "args": {"from_step": at} if at else {"path": "x", **args}} for at, name in enumerate(tools)
    ]
    return {"steps": [*steps, {"tool": "final_answer", "args": {"text": f"${{step{len(tools)}.text}}"}}]}


def seen(number: int, tools: tuple[str, ...] = TOOLS[:3], **more: Any) -> Seen:
    outcome = more.pop("outcome", "success")
    figures = {
        "plans": 1,
        "plan_source": "model",
        "latency_us": 1000 * (number + 1),
        "tokens_in": 10 * number,
        **more.pop("figures", {}),
    }
    now = TurnFigures(
        turn=f"t-{number}",
        request=more.pop("request", f"request {number}"),
        outcome=outcome,
        succeeded=outcome == "success",
        cause="" if outcome == "success" else more.pop("cause", "broken"),
        tools=tools,
        **figures,
    )
    steps = tuple(StepRow(f"1.{at}", name, 900) for at, name in enumerate(tools, 1))
    return Seen(figures=now, plan=more.pop("plan", plan(*tools)), steps=more.pop("steps", steps), **more)


def gathering(**more: Any) -> Gathering:
    effects = {"write_files": "create", "delete_files": "delete"}
    return Gathering(title="turns", effect_of=lambda tool: effects.get(tool, "read"), **more)


def ordinary(turns: int, *, compared: bool = True, seed: int = 1) -> Report:
    """Turns of all outcomes, some of which went otherwise."""
    rnd = Random(seed)
    made = gathering()
    for number in range(turns):
        tools = (TOOLS[0], *rnd.sample(TOOLS[1:], rnd.randint(1, 3)))
        then = tools if rnd.random() < 0.8 else (TOOLS[0], *rnd.sample(TOOLS[1:], 2))
        outcome = rnd.choice(["success"] * 6 + ["error", "partial", "plan_rejected"])
        recorded = TurnFigures(turn=f"t-{number}", outcome="success", succeeded=True, plans=1, tools=then, tokens_in=90)
        made.add(
            seen(
                number,
                tools,
                outcome=outcome,
                recorded=recorded if compared else None,
                recorded_plan=plan(*then) if compared else None,
                diverged="tools differ" if compared and then != tools else "",
                answer=f"answer {number}",
                labels={"task": number // 4},
            )
        )
    return made.report()


def hostile() -> Report:
    """Every text of a record is an attack."""
    made = gathering(facts={text: text for text in ATTACKS})
    for number, text in enumerate(ATTACKS):
        recorded = TurnFigures(turn=text, outcome="success", tools=(text,), cause=text)
        made.add(
            seen(
                number,
                (text, "find_files"),
                outcome="error",
                request=text,
                cause=text,
                plan=plan(text, "find_files", path=text, **{text: text}),
                recorded=recorded,
                recorded_plan=plan("find_files", path=text),
                steps=(StepRow("1.1", text, 5, "failed", text),),
                answer=text,
                diverged=text,
                labels={"said": text},
                figures={"plan_source": "cache", "cache_reason": text},
            )
        )
    made.unread(ATTACKS[0])
    return made.report(
        regressions=tuple({"kind": text, "what": text, "count": 1, "turns": [text], "detail": text, "requests": [text]} for text in ATTACKS),
        differences=({"measure": ATTACKS[0], "judgement": ATTACKS[1]},),
    )  # fmt: skip
