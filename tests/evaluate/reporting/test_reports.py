"""Reports without a browser: counts, bounds, plans as shapes, the page's policy and escapes, the table."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from metnos.evaluate.measures.histogram import Histogram
from metnos.evaluate.reporting import gathering as gathered
from metnos.evaluate.reporting.gathering import MOST_BYTES, Seen, bins_of, matrix_of, paired
from metnos.evaluate.reporting.model import NOTHING, Report, shown
from metnos.evaluate.reporting.page import WORDS, as_data, html_of
from metnos.evaluate.reporting.plots import MOST_ROWS, bars, duration
from metnos.evaluate.reporting.shapes import diff_of, key_of, shape_of, shape_of_all
from metnos.evaluate.reporting.table import lines_of
from metnos.text import has_message
from tests.evaluate.reporting.reports import ATTACKS, gathering, hostile, ordinary, plan, seen
from tests.support.checking import plan as planned
from tests.support.checking import step
from tests.support.recorded import contract, recorded

MEGABYTE = 1_000_000


class Tags(HTMLParser):
    """Every tag with its attributes, and what stands in script and style."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self._in = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in = tag

    def handle_data(self, data: str) -> None:
        if self._in in self.inside:
            self.inside[self._in].append(data)

    def handle_endtag(self, tag: str) -> None:
        self._in = ""


def hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("report", [ordinary(5), hostile(), gathering().report()], ids=["ordinary", "hostile", "empty"])
def test_the_policy_names_the_one_style_and_script_and_the_page_asks_for_nothing(report: Report) -> None:
    page = Tags(html_of(report))
    (policy,) = [held["content"] for tag, held in page.tags if held.get("http-equiv") == "Content-Security-Policy"]
    (style,), (data, script) = page.inside["style"], page.inside["script"]
    assert (
        policy
        == f"default-src 'none'; script-src {hash_of(script)}; style-src {hash_of(style)}; base-uri 'none'; form-action 'none'"
    )
    assert json.loads(data)["rows"] == msgspec.to_builtins(msgspec.json.decode(msgspec.json.encode(report.rows)))
    names = {name for _, held in page.tags for name in held}
    assert not {name for name in names if name.startswith("on") or name in ("src", "style", "srcset", "action")}
    assert [held["href"] for _, held in page.tags if "href" in held] == ["#turns"]
    assert "http" not in style
    assert re.findall(r"https?:[^\"]*", script) == ["http://www.w3.org/2000/svg"]


def test_hostile_text_makes_no_tag_and_is_all_there() -> None:
    harmless = Tags(html_of(ordinary(5)))
    page = html_of(hostile())
    tags = Tags(page)
    assert {tag for tag, _ in tags.tags} <= {tag for tag, _ in harmless.tags} | {
        "caption",
        "ul",
        "li",
        "dl",
        "dt",
        "dd",
    }
    for text in ATTACKS:
        told = shown(text, 400)
        assert html.escape(told, quote=False) in page.replace("&#34;", '"').replace("&#39;", "'")
        assert as_data(told) in page
    assert page.count("<script") == 2
    assert page.count("</script") == 2


def test_what_turns_text_round_or_drives_a_terminal_is_spelled_out() -> None:
    assert shown("a\u202eb\x1b\u2066\x00\ud800", 40) == "a\\u202eb\\u001b\\u2066\\u0000\\ud800"
    assert shown("a\nb\tc 🙂", 40) == "a\nb\tc 🙂"
    assert shown("x" * 10, 5) == "xxxx…"
    assert as_data({"a": "</script>&\u2028"}) == '{"a":"\\u003c/script\\u003e\\u0026\\u2028"}'


def test_a_thousand_turns_make_less_than_a_megabyte_and_failures_come_first() -> None:
    report = ordinary(1_000)
    page = html_of(report)
    assert len(page.encode()) < MEGABYTE
    assert len(report.rows) > 900
    first = [row.succeeded and not row.diverged for row in report.rows]
    assert first == sorted(first)
    assert report.turns == 1_000


def test_however_long_the_texts_are_the_page_is_bounded() -> None:
    made = gathering()
    for number in range(300):
        long = plan(*["find_files"] * 60, pattern="y" * 5_000, number=number)
        made.add(seen(number, request="x" * 100_000, answer="z" * 100_000, plan=long))
    report = made.report()
    assert report.turns == 300
    assert 0 < len(report.rows) < 300
    assert len(as_data([report.rows, report.plans, report.diffs])) < MOST_BYTES * 1.05


def test_what_comes_first_does_not_push_failures_out(monkeypatch: pytest.MonkeyPatch) -> None:
    made = gathering(most=10)
    for number in range(40):
        made.add(seen(number, outcome="error" if number >= 30 else "success"))
    report = made.report()
    assert [row.turn for row in report.rows] == [f"t-{number}" for number in range(30, 40)]
    monkeypatch.setattr(gathered, "MOST_BYTES", 1)
    assert made.report().rows == ()


def test_a_recorded_turn_is_seen_with_its_plan_steps_and_answer() -> None:
    find = contract("find", {"path": {"type": "string"}}, {})
    log = recorded([find], planned(step("find", {"path": "x"})), {"find": {"a": 1}})
    made = gathering()
    made.add(Seen.of(log, {"task": 1}))
    (row,) = made.report().rows
    assert (row.outcome, row.answer, row.labels) == ("success", "1.1", {"task": 1})
    assert [(one.step, one.tool, one.state) for one in row.steps] == [("1.1", "find", "done")]


def test_how_far_turns_came_and_what_they_cost() -> None:
    made = gathering()
    made.add(seen(0, figures={"plan_source": "template"}))
    made.add(seen(1, figures={"cache_reason": "not-seen", "proposals": 1}))
    made.add(
        seen(2, outcome="not_understood", figures={"plans": 0, "plan_source": "", "cache_reason": "unknown-words"})
    )
    report = made.report()
    assert report.funnel == (("turns", 3), ("looked-up", 3), ("served", 1), ("proposed", 1), ("accepted", 2), ("succeeded", 2))  # fmt: skip
    assert report.missed == {"not-seen": 1, "unknown-words": 1}
    assert report.totals["tokens_in"] == 30
    assert not report.compared


def test_calls_are_paired_in_order() -> None:
    assert paired("abc", "abc") == [("a", "a"), ("b", "b"), ("c", "c")]
    assert paired("abc", "axc") == [("a", "a"), ("b", "x"), ("c", "c")]
    assert paired("ab", "abz") == [("a", "a"), ("b", "b"), (NOTHING, "z")]
    assert paired("abz", "a") == [("a", "a"), ("b", NOTHING), ("z", NOTHING)]
    assert paired("", "") == []


def test_the_matrix_holds_the_tools_that_are_called_most_and_counts_the_rest() -> None:
    pairs = Counter({("a", "a"): 5, ("a", "b"): 2, (NOTHING, "b"): 1} | {(f"t{n}", f"t{n}"): 1 for n in range(20)})
    matrix = matrix_of(pairs)
    assert len(matrix.tools) == gathered.TOOLS + 1
    assert matrix.tools[-1] == NOTHING
    at = matrix.tools.index
    assert (matrix.cells[at("a")][at("a")], matrix.cells[at("a")][at("b")], matrix.cells[at(NOTHING)][at("b")]) == (
        5,
        2,
        1,
    )
    assert sum(map(sum, matrix.cells)) + matrix.other == pairs.total()


def test_bins_hold_every_number_once() -> None:
    for numbers in ([0], [3, 5, 7, 1000], [0, 1, 2, 5, 10, 99, 10**9], [17]):
        spread = Histogram()
        for number in numbers:
            spread.add(number)
        bins = bins_of(spread.bars())
        assert all(left[1] == right[0] for left, right in pairwise(bins))
        assert bins[0][0] <= spread.bars()[0][0] < bins[0][1]
        assert bins[-1][0] <= spread.bars()[-1][0] < bins[-1][1]
    assert bins_of([]) == []


def test_plans_become_lines_a_graph_and_a_difference() -> None:
    one, two = plan("find_files", "sort_entries"), plan("find_files", "write_files", "sort_entries")
    shape = shape_of(one, lambda tool: "create" if tool == "write_files" else "read")
    assert shape.lines[0] == '1 find_files path="x"'
    assert shape.nodes == (("1 find_files", "read"), ("2 sort_entries", "read"), ("final_answer", ""))
    assert [edge[:3] for edge in shape.edges] == [(0, 1, "refers"), (1, 2, "refers")]
    other = shape_of(two, lambda _tool: "")
    parts = diff_of(shape, other)
    told = [line for part in parts for line in other.lines[part.now_from : part.now_to]]
    assert tuple(told) == other.lines
    then = [line for part in parts for line in shape.lines[part.recorded_from : part.recorded_to]]
    assert tuple(then) == shape.lines
    assert {part.tag for part in parts} == {"=", "!"}
    assert key_of(one) == key_of(json.loads(json.dumps(one))) != key_of(two)


@pytest.mark.parametrize("odd", [{}, {"steps": 3}, {"steps": [3]}, {"x": float("nan")}])
def test_what_is_no_plan_is_shown_as_it_is(odd: dict[str, Any]) -> None:
    shape = shape_of(odd, lambda _tool: "")
    assert shape.lines
    assert len(key_of(odd)) == 12


def test_bars_of_many_names_are_cut_and_add_up() -> None:
    counts = {f"n{number}": 1 for number in range(50)}
    rows = bars(counts, 50, then={"only-then": 4}, rest="others")
    assert len(rows) == MOST_ROWS + 1
    assert (rows[-1]["label"], sum(row["count"] for row in rows), sum(row["then"] for row in rows)) == ("others", 50, 4)
    assert max(float(row["width"]) for row in rows) <= 100


@pytest.mark.parametrize(
    ("us", "told"), [(0, "0 µs"), (999, "999 µs"), (1_500, "1.5 ms"), (2_000_000, "2 s"), (3_700_000_000, "3700 s")]
)
def test_times_are_told_in_a_unit_that_fits(us: int, told: str) -> None:
    assert duration(us) == told


@pytest.mark.parametrize("language", ["en", "it"])
def test_the_table_and_the_page_speak_both_languages(language: str) -> None:
    report = ordinary(20)
    told = "\n".join(lines_of(report, language))
    assert ("Outcomes" in told) == (language == "en")
    assert ("Esiti" in html_of(report, language)) == (language == "it")
    assert "".join(lines_of(hostile(), language))
    assert all(has_message(f"report.{name}") for name in WORDS)


def colours(css: str, block: str) -> dict[str, str]:
    found = re.search(re.escape(block) + r" \{(.*?)\}", css, re.DOTALL)
    assert found is not None
    return dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", found[1]))


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("block", [":root", ':root[data-theme="dark"]', '  :root:not([data-theme="light"])'])
def test_text_and_bars_stand_out_in_both_themes(block: str, root: Path) -> None:
    css = (root / "metnos" / "evaluate" / "reporting" / "page.css").read_text()
    held = colours(css, block)
    for ground in ("paper", "card"):
        for name in ("ink", "soft", "focus", "good", "bad", "half"):
            assert contrast(held[name], held[ground]) >= 4.5, (name, ground)
        for name in ("now", "then", "other"):
            assert contrast(held[name], held[ground]) >= 3, (name, ground)
    for ground in ("plus", "minus"):
        assert contrast(held["ink"], held[ground]) >= 7


def test_a_turn_that_went_beyond_the_record_is_not_judged() -> None:
    made = gathering()
    made.add(seen(0))
    made.add(seen(1, outcome="unobserved", cause="unobserved", figures={"known": False}))
    report = made.report()
    assert (report.turns, report.judged, report.succeeded, report.high) == (2, 1, 1, 1.0)
    assert "1 cannot be judged" in html_of(report)
    assert "1 cannot be judged" in "\n".join(lines_of(report))


def test_plans_that_go_on_are_one_shape_in_which_steps_refer_to_earlier_plans() -> None:
    first = {"steps": [{"tool": "find_files", "args": {"path": "x"}}]}
    second = {"steps": [{"tool": "ask", "args": {"question": "which?"}}]}
    third = {
        "steps": [{"tool": "read_files", "args": {"path": "${plan1.step1.path}"}}, {"tool": "final_answer", "args": {}}]
    }
    shape = shape_of_all([(1, first), (2, second), (4, third)], lambda _tool: "read")
    assert shape.lines == (
        '1.1 find_files path="x"',
        'ask question="which?"',
        "4.1 read_files path=${plan1.step1.path}",
        "end",
    )
    assert [label for label, _ in shape.nodes] == ["1.1 find_files", "ask: which?", "4.1 read_files", "final_answer"]
    assert {edge[:2] for edge in shape.edges} == {(0, 2), (2, 3)}


def test_what_a_data_set_judged_counts_and_all_plans_of_a_turn_are_shown() -> None:
    find = contract("find", {"path": {"type": "string"}}, {})
    log = recorded([find], planned(step("find", {"path": "x"})), {"find": {"a": 1}})
    made = gathering()
    made.add(Seen.of(log, {"reward": 0, "task": 1}))
    made.add(
        msgspec.structs.replace(Seen.of(log, {"reward": 1}), plans=((1, plan("a")), (2, plan("b"))), failed=("a", "a"))
    )
    report = made.report()
    assert (report.succeeded, report.causes, report.failed_tools) == (1, {"judged-failed": 1}, {"a": 2})
    assert report.plans[report.rows[1].plan].lines[0].startswith("1.1 a")
