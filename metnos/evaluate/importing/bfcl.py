"""The Berkeley function calling leaderboard: questions, possible answers, results of models.

    BFCL_*.json                  {"id", "question": [[messages of a turn], …], "function": [tools]}
    possible_answer/BFCL_*.json  {"id", "ground_truth": [{"tool": {"argument": [allowed values]}}] or [["call(…)", …], …]}
    **/BFCL_*_result.json        {"id", "result", "input_token_count", "output_token_count", "latency", "inference_log"}
    **/BFCL_*_score.json         a line of totals, then the failed ones, {"id", "valid": false}
    multi_turn_func_doc/*.json   tools of the questions that have none

all JSON Lines, whatever they are called. With results in the source each result is a run, else each gold answer is one.

| of the form | becomes |
|---|---|
| a question of one turn | the request; its calls are one plan, checked and never run: nothing was observed |
| a question of several turns | a conversation: what the person says next answers each turn |
| `result` as calls (`{"tool": "arguments"}`, or Python) | the calls; as a text: the answer |
| `role: tool` of `inference_log` | the results of the calls of that step, in order |
| `ground_truth` | the first allowed value of each argument, without those that may be left out (`""`) |
| token counts, summed over a turn | usage of the run's first plan of that turn |
| `*_score.json` | labels: reward |
| category (of `id`) | labels; group: the id; model (folder of the result, above that of its group): labels and proposer |
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from metnos.contracts.aliases import alias
from metnos.evaluate.importing.contracts import argument_name
from metnos.evaluate.importing.folding import literal
from metnos.evaluate.importing.messages import arguments_of, content_of
from metnos.evaluate.importing.model import Act, Call, Heard, Moment, Notes, ReadFault, Recorded, Written
from metnos.evaluate.importing.pycalls import read_calls
from metnos.evaluate.importing.reading import each, files, kind, list_of, rows, text_of
from metnos.plan.jsondata import is_list, is_object

RESULT, SCORE = "_result.json", "_score.json"
ANSWERS, DOCS = "possible_answer", "multi_turn_func_doc"
GROUPS = frozenset(
    [
        "non_live",
        "live",
        "multi_turn",
        "agentic",
        "format_sensitivity",
        "memory",
        "web_search",
        "kv",
        "vector",
        "rec_sum",
    ]
)
"""Folders of categories, which version 4 puts between that of the model and the files."""


class _Question(msgspec.Struct, frozen=True):
    id: str
    turns: list[str]
    """What the person says, turn by turn."""


def read(source: Path, notes: Notes) -> Iterator[Recorded]:
    """The runs of a folder (or of one file of questions, with what lies beside it)."""
    found = files(source, (".json", ".jsonl"), deep=True)
    if source.is_file():
        found += [path for path in files(source.parent, (".json", ".jsonl"), deep=True) if path != source]
    results = [path for path in found if path.name.endswith(RESULT)]
    scores = {path for path in found if path.name.endswith(SCORE)}
    answers = [path for path in found if path.parent.name == ANSWERS]
    docs = [path for path in found if path.parent.name == DOCS]
    others = {*results, *scores, *answers, *docs}
    questions = _questions([path for path in found if path not in others], docs, notes)
    order = {name: _arguments(told) for name, told in notes.tools.items()}
    failed = _scores(scores, notes)
    for path in results or answers:
        yield from each(rows(path, notes), notes, _Reader(path, questions, order, failed, bool(results), notes))


def _questions(paths: list[Path], docs: list[Path], notes: Notes) -> dict[str, _Question]:
    for path in docs:
        for described, _ in rows(path, notes):
            notes.describe(described)
    found: dict[str, _Question] = {}
    for path in paths:
        for question in each(rows(path, notes), notes, lambda record, where: _question(record, where, notes)):
            found[question.id] = question
    return found


def _question(record: dict[str, Any], where: str, notes: Notes) -> _Question:
    for described in list_of(record, "function", where, missing=True):
        notes.describe(described)
    turns: list[str] = []
    for number, messages in enumerate(list_of(record, "question", where)):
        said: list[str] = []
        for message in messages if is_list(messages) else [messages]:
            place = f"{where}/question/{number}"
            if not is_object(message):
                raise ReadFault(place, kind(message), "a message, an object")
            if message.get("role") == "user":
                said.append(content_of(message.get("content"), place, notes))
            else:
                notes.drop("message of the system")
        turns.append("\n".join(said))
    return _Question(text_of(record, "id", where), turns)


def _model(path: Path) -> str:
    """The folder of a model: `MODEL/BFCL_…` or, since version 4, `MODEL/live/BFCL_…`."""
    return next((folder.name for folder in path.parents if folder.name not in GROUPS), "")


def _arguments(described: list[dict[str, Any]]) -> list[str]:
    parameters: Any = described[0].get("parameters")
    properties = parameters.get("properties") if is_object(parameters) else None
    return list(properties) if is_object(properties) else []


def _scores(paths: set[Path], notes: Notes) -> dict[tuple[str, str], set[str]]:
    """(Model, category file) → ids that failed; the others of it were right."""
    found: dict[tuple[str, str], set[str]] = {}
    for path in sorted(paths):
        wrong = found.setdefault((_model(path), path.name.removesuffix(SCORE)), set())
        for row, _ in rows(path, notes):
            if is_object(row) and isinstance(row.get("id"), str) and row.get("valid") is not True:
                wrong.add(row["id"])
    return found


class _Reader:
    """Reads the rows of one file of results or answers."""

    def __init__(
        self,
        path: Path,
        questions: dict[str, _Question],
        order: dict[str, list[str]],
        failed: dict[tuple[str, str], set[str]],
        is_result: bool,
        notes: Notes,
    ) -> None:
        self.questions = questions
        self.order = order
        self.notes = notes
        self.is_result = is_result
        self.model = _model(path) if is_result else ""
        self.failed = failed.get((self.model, path.name.removesuffix(RESULT)))

    def __call__(self, record: dict[str, Any], where: str) -> Recorded:
        name = text_of(record, "id", where)
        question = self.questions.get(name)
        if question is None:
            raise ReadFault(f"{where}/id", name, "the id of a question in the source")
        labels: dict[str, Any] = {"group": name, "category": name.rpartition("_")[0], "gold": not self.is_result}
        if self.is_result:
            labels["model"] = self.model
            if self.failed is not None:
                labels["reward"] = 0.0 if name in self.failed else 1.0
        field = "result" if self.is_result else "ground_truth"
        made = record.get(field)
        if is_object(made) or made is None:
            raise ReadFault(f"{where}/{field}", kind(made), "calls, or a text")
        several = len(question.turns) > 1
        if several:
            moments = self.several(question, record, made, f"{where}/{field}")
        else:
            moments = (self.one(record, made, f"{where}/{field}"),)
        answered = isinstance(last := moments[-1], Act) and not last.calls
        return Recorded(
            key=f"{self.model}-{name}" if self.model else name,
            request=question.turns[0] if question.turns else "",
            moments=moments,
            end="answered" if answered else "cut" if several else "ended",
            labels=labels,
        )

    def one(self, record: dict[str, Any], made: Any, where: str) -> Moment:
        """The one plan of a question of one turn, or a text where no call was made."""
        usage = _usage(record)
        try:
            calls = self.calls(made, where)
        except ReadFault:
            if not isinstance(made, str):
                raise
            return Act(text=made, usage=usage, model=self.model)
        steps: list[dict[str, Any]] = [
            {"tool": alias(call.name), "args": {argument_name(n): literal(v) for n, v in call.arguments.items()}}
            for call in calls
        ]
        steps.append({"tool": "final_answer", "args": {}})
        return Written(plan={"steps": steps}, usage=usage, model=self.model)

    def several(self, question: _Question, record: dict[str, Any], made: Any, where: str) -> tuple[Moment, ...]:
        """Turn by turn; each step of a result is one go of the model, a gold turn is one go as a whole."""
        if not is_list(made):
            raise ReadFault(where, kind(made), "a list with a list of calls for each turn")
        logs = [log for log in _list(record.get("inference_log")) if is_object(log) and "begin_of_turn_query" in log]
        moments: list[Moment] = []
        for number, said in enumerate(question.turns[: len(made)]):
            if number:
                moments.append(Heard(text=said))
            steps = made[number] if self.is_result and is_list(made[number]) else [made[number]]
            log = logs[number] if number < len(logs) else {}
            for index, step in enumerate(steps or [[]]):
                place = f"{where}/{number}/{index}"
                usage = _usage(record, number) if index == 0 else {}
                moments.append(self.act(step, _list(log.get(f"step_{index}")), usage, place))
        return tuple(moments) or (Act(model=self.model),)

    def act(self, step: Any, log: list[Any], usage: dict[str, int], where: str) -> Act:
        """One go: calls with the results that the log has, or a text."""
        try:
            calls = self.calls(step, where)
        except ReadFault:
            if not isinstance(step, str):
                raise
            return Act(text=step, usage=usage, model=self.model)
        told = [entry.get("content") for entry in log if is_object(entry) and entry.get("role") == "tool"]
        done = [
            msgspec.structs.replace(call, recorded=True, result=content_of(result, where, self.notes), is_text=True)
            for call, result in zip(calls, told, strict=False)
        ]
        return Act(calls=(*done, *calls[len(done) :]), usage=usage, model=self.model)

    def calls(self, made: Any, where: str) -> list[Call]:
        """The calls of one go, whichever way they are written."""
        found: list[Call] = []
        for index, entry in enumerate(made if is_list(made) else [made]):
            place = f"{where}/{index}"
            if isinstance(entry, str):
                found += [Call(name=name, arguments=args) for name, args in read_calls(entry, place, self.order)]
            elif is_object(entry) and len(entry) == 1 and "" not in entry:
                ((name, raw),) = entry.items()
                found.append(Call(name=name, arguments=self.arguments(raw, place)))
            else:
                raise ReadFault(place, kind(entry), '{"tool": arguments}, or a call as Python writes it')
        return found

    def arguments(self, raw: Any, where: str) -> dict[str, Any]:
        """As a model wrote them, or of a gold answer the first that is allowed."""
        if self.is_result:
            return arguments_of(raw, where)
        if not is_object(raw):
            raise ReadFault(where, kind(raw), "an object of arguments with their allowed values")
        allowed = {name: values for name, values in raw.items() if is_list(values) and values and values[0] != ""}
        return {name: _first(values[0]) for name, values in allowed.items()}


def _first(value: Any) -> Any:
    """An allowed value; inside an object each field has its own list of them."""
    if is_object(value):
        return {name: _first(held[0]) if is_list(held) and held else held for name, held in value.items()}
    return [_first(held) for held in value] if is_list(value) else value


def _list(value: Any) -> list[Any]:
    return value if is_list(value) else []


def _usage(record: dict[str, Any], turn: int | None = None) -> dict[str, int]:
    usage: dict[str, int] = {}
    for name, word in (("tokens_in", "input_token_count"), ("tokens_out", "output_token_count")):
        told: Any = record.get(word)
        if turn is not None and is_list(told):
            told = told[turn] if turn < len(told) else None
        number = _sum(told)
        if number:
            usage[name] = number
    return usage


def _sum(told: Any) -> int:
    if is_list(told):
        return sum(map(_sum, told))
    return int(told) if isinstance(told, int | float) and told > 0 else 0
