"""What a line may be: tools, inputs, values; and that the grammar says neither less nor more than that."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from metnos.checks.model import CheckContext
from metnos.plan.diagnostics import Diagnostic
from metnos.propose.decode.choices import END, SOURCE, Choice
from metnos.propose.decode.lark import line_grammar
from metnos.propose.decode.loop import Decoder, choice_of, step_of, twice_named
from metnos.propose.decode.model import Bounds, Impossible, Written
from metnos.propose.decode.said import MOST_SPANS, Said
from metnos.propose.decode.state import begin
from metnos.propose.decode.styles import LINES, PLAN_FILE, Style
from metnos.propose.models.ports import Decoded, ModelFault, Stop, Usage
from metnos.request.understand import understand
from metnos.testing import RandomSession
from metnos.testing.deciding import accepts

if TYPE_CHECKING:
    from metnos.propose.decode.state import Checks, Plan

SHIPPED = ("find_files", "sort_entries", "take_entries", "render_table", "filter_entries", "delete_files", "move_files",
           "copy_files", "write_files", "read_files_csv", "find_texts", "read_files", "create_dirs", "compute_stats")  # fmt: skip
MUCH = Bounds(tokens=6_000)
"""Here each token is a byte."""
FIND: Plan = {"tool": "find_files", "args": {}}
BY_SIZE: Plan = {"tool": "sort_entries", "args": {"from_step": 1, "by": "size", "order": "desc"}}
MENTIONS: Plan = {"tool": "find_texts", "args": {"pattern": "Bob", "path": "docs"}}


def decoder(checks: Checks, text: str, names: tuple[str, ...] = SHIPPED, **known: Any) -> Decoder:
    request = understand(text)
    context = CheckContext(source="model", request=request, **known)
    return Decoder(checks, names, request, context, bounds=MUCH)


def grammar(of: Decoder, *steps: Plan, masked: frozenset[Choice] = frozenset()) -> str:
    sofar = begin(of.checks, of.request, of.context, steps)
    assert sofar.checked.ok
    return line_grammar(of.tools.line(sofar, masked))


@pytest.mark.parametrize(
    ("text", "steps", "line", "fits"),
    [
        ("delete draft.txt", (), '1 delete_files path="draft.txt"', True),
        ("delete draft.txt", (), '1 delete_files path="other.txt"', False),
        ("delete draft.txt", (), "end", False),
        ("delete draft.txt", ({"tool": "delete_files", "args": {"path": "draft.txt"}},), "end", True),
        ("show draft.txt", (), '1 delete_files path="draft.txt"', False),
        ("do not delete draft.txt", (), '1 delete_files path="draft.txt"', False),
        ("list the pdf files changed yesterday", (),
         '1 find_files pattern="*.pdf" modified_from=${RUNTIME:day-1.start} modified_to=${RUNTIME:day-1.end}', True),
        ("list the pdf files changed yesterday", (), "1 find_files modified_to=${RUNTIME:day-1.start}", False),
        ("list the pdf files changed before yesterday", (),
         '1 find_files pattern="*.pdf" modified_to=${RUNTIME:day-1.start}', True),
        ("list the pdf files changed before yesterday", (), '1 find_files pattern="*.pdf"', False),  # said in one breath
        ("count the files and then list the pdf ones over 2 MB", (), "1 find_files", True),
        ("files not changed since last week", (), "1 find_files modified_to=${RUNTIME:week-1.start}", True),
        ("files not changed since last week", (), "1 find_files modified_from=${RUNTIME:week-1.start}", False),
        ("files changed since last week", (), "1 find_files modified_from=${RUNTIME:week-1.start}", True),
        ("files changed after yesterday", (), "1 find_files modified_from=${RUNTIME:day-1.end}", True),
        ("files changed until yesterday", (), "1 find_files modified_to=${RUNTIME:day-1.end}", True),
        ("read data.csv", (), '1 read_files_csv path="data.csv"', True),
        ("read data.txt", (), '1 read_files_csv path="data.txt"', False),
        ("copy a.txt into copies", (), '1 find_files path="copies"', False),  # they are not there yet
        ("list the pdf files", (), '1 find_files path="."', False),  # its default
        ("list the pdf files", (), '1 find_files pattern="*.txt"', False),
        ("the files larger than 2 MB", (), "1 find_files min_size=2000000", True),
        ("the files larger than 2 MB", (), "1 find_files max_size=2000000", False),
        ("files under 2 MB", (), "1 find_files min_size=2000000", False),
        ("files not larger than 2 MB", (), "1 find_files max_size=2000000", True),
        ("the empty files", (), "1 find_files max_size=0", True),
        ("files older than 30 days", (), "1 find_files modified_to=${RUNTIME:day-30.start}", True),
        ("files older than 30 days", (), "1 find_files modified_from=${RUNTIME:day-30.start}", False),
        ("files newer than 30 days", (), "1 find_files modified_to=${RUNTIME:day-30.start}", False),
        ("files changed 30 days ago", (), "1 find_files modified_to=${RUNTIME:day-30.start}", True),
        ("the largest files", (FIND,), '2 sort_entries <1 by="size" order="desc"', True),
        ("the largest files", (FIND,), '2 sort_entries <1 by="size"', False),
        ("the largest files", (FIND,), '2 sort_entries <1 by="weight"', False),
        ("the largest files", (FIND,), '2 sort_entries <2 by="size"', False),
        ("the largest files", (), '1 sort_entries <1 by="size"', False),
        ("files over 5 MB", (FIND,), '2 filter_entries <1 field="size" op="gt" value=5000000', True),
        ("files over 5 MB", (FIND,), '2 filter_entries <1 field="size" op="gt" value="5 MB"', False),
        ("count the files of over 2 MB", (FIND, {"tool": "compute_stats", "args": {"from_step": 1}}), "3 compute_stats <1", False),
        ("conta i file", (FIND,), "2 compute_stats <1", True),
        ("i file più grandi di 4 kB", (FIND,), "2 take_entries <1 count=1", False),
        ("il file più grande", (FIND, BY_SIZE), "3 take_entries <2 count=1", True),
        ("which files in docs mention Bob?", (MENTIONS,), '2 find_files path="docs"', False),
        ("which files in docs mention Bob?", (MENTIONS,), '2 find_texts pattern="Bob" path="docs"', False),
        ("which files in docs mention Bob?", (MENTIONS,), "2 render_table <1", True),
        ("which files are in docs?", ({"tool": "find_files", "args": {"path": "docs"}},), "2 read_files <1", False),
        ("show the contents of the files in docs", ({"tool": "find_files", "args": {"path": "docs"}},), "2 read_files <1", True),
        ("the first three files", (FIND,), "2 take_entries <1 count=3", True),
        ("a table of the files with name and size", (FIND,), '2 render_table <1 columns=["size","name"]', True),
        ("a table of the files with name and size", (FIND,), '2 render_table <1 columns=["name","name"]', False),
        ("a table of the files", (FIND,), '2 render_table <1 columns=["name"]', False),  # all of them
        ("delete a.txt and b.txt", (), '1 delete_files path=${item} each ["a.txt","b.txt"]', True),
        ("delete a.txt and b.txt", (), '1 delete_files path="a.txt"', False),  # the other one would be left
        ("delete the files", (FIND,), "2 delete_files <1", False),  # which ones is not said
        ("delete all the files", (FIND,), "2 delete_files <1", True),
        ("delete the log files", ({"tool": "find_files", "args": {"pattern": "*.log"}},), "2 delete_files <1", True),
        ("count the files and write the number to n.txt", (FIND,),
         '2 write_files path="n.txt" content="${step1.count}\\n"', True),
        ("copy a.txt to b.txt", (), '1 copy_files path="a.txt" to="b.txt"', True),
        ("copy a.txt to b.txt", (), '1 copy_files path="a.txt" to="b.txt" overwrite=true', False),
        ("overwrite b.txt with a copy of a.txt", (), '1 copy_files path="a.txt" to="b.txt" overwrite=true', True),
        ('find "${step1} \\" in notes.txt', (), '1 find_texts pattern="$${step1} \\\\" path="notes.txt"', True),
    ],
)  # fmt: skip
def test_the_grammar_of_a_line(shipped: Checks, text: str, steps: tuple[Plan, ...], line: str, fits: bool) -> None:
    assert accepts(grammar(decoder(shipped, text), *steps), f"{line}\n") is fits


def test_what_fits_a_line_is_what_the_checks_take(shipped: Checks) -> None:
    """A line of the grammar, read back, is a step without a fault; and it is spelled as the notation spells it."""
    for seed in range(60):
        of = decoder(shipped, "find the 3 largest pdf files in docs changed last week and copy them to old/x")
        session, steps = RandomSession(seed), (FIND,)
        for number in range(2, 5):
            text = session.decode(grammar(of, *steps), most_tokens=400).text
            if text == "end\n":
                break
            step, faults = LINES.read(text, number)
            assert step is not None, faults
            assert begin(of.checks, of.request, of.context, (*steps, step)).checked.ok
            assert LINES.read(LINES.write(number, step), number)[0] == step
            steps = (*steps, step)


def test_the_plan_file_under_the_same_choices(shipped: Checks) -> None:
    written = 0
    for seed in range(40):
        request = understand("find the pdf files in docs and copy them to old/x")
        of = Decoder(
            shipped, SHIPPED, request, CheckContext(source="model", request=request), style=PLAN_FILE, bounds=MUCH
        )
        found = of.decode(session := RandomSession(seed))
        if isinstance(found, Written):
            assert len(json.loads(session.written)["steps"]) == len(found.plan["steps"])
            assert PLAN_FILE.write(2, found.plan["steps"][0]).startswith(',{"tool":')
            written += 1
    assert written > 4  # chance seldom says all that is asked
    assert PLAN_FILE.read("{", 1)[0] is None
    assert PLAN_FILE.read(",[]", 2)[0] is None


def test_closed_choices(shipped: Checks) -> None:
    of = decoder(shipped, "delete draft.txt or notes.txt")
    path = Choice("delete_files", "path", '"draft.txt"')
    assert not accepts(grammar(of, masked=frozenset({path})), '1 delete_files path="draft.txt"\n')
    assert accepts(grammar(of, masked=frozenset({path})), '1 delete_files path="notes.txt"\n')
    assert not accepts(grammar(of, masked=frozenset({Choice("find_files")})), "1 find_files\n")
    of = decoder(shipped, "the largest files")
    assert not accepts(grammar(of, FIND, masked=frozenset({Choice(END)})), "end\n")
    source = frozenset({Choice("take_entries", SOURCE, "1")})
    assert not accepts(grammar(of, FIND, masked=source), "2 take_entries <1 count=1\n")
    columns = frozenset({Choice("render_table", "columns", '["name"]')})
    assert not accepts(grammar(of, FIND, masked=columns), '2 render_table <1 columns=["size"]\n')
    assert accepts(grammar(of, FIND, masked=columns), "2 render_table <1\n")
    field = frozenset({Choice("filter_entries", "field", '"size"')})
    of = decoder(shipped, "files over 5 MB")
    assert not accepts(grammar(of, FIND, masked=field), '2 filter_entries <1 field="size" op="gt" value=5000000\n')
    group = frozenset({Choice("copy_files", "to", '"b.txt"'), Choice("copy_files", "folder", '"b.txt"')})
    of = decoder(shipped, "copy a.txt to b.txt")
    assert not accepts(grammar(of, masked=group), '1 copy_files path="a.txt" to="b.txt"\n')
    assert not accepts(grammar(of, masked=group), '1 copy_files path="b.txt" to="a.txt"\n')


def test_few_lines_are_left_for_what_is_missing(shipped: Checks) -> None:
    of = decoder(shipped, "delete draft.txt")
    steps = tuple({"tool": "find_files", "args": {"limit": number}} for number in range(1, 8))
    assert not accepts(grammar(of, *steps), "8 find_files\n")
    assert accepts(grammar(of, *steps), '8 delete_files path="draft.txt"\n')
    done = (*steps, {"tool": "delete_files", "args": {"path": "draft.txt"}})
    assert grammar(of, *done) == 'start: "end\\n"\n'


def test_what_was_said_of_it_is_looked_at_before_it_is_changed(shipped: Checks) -> None:
    of = decoder(shipped, "delete the files in tmp that are larger than 1 MB and list what stays")
    wide: Plan = {"tool": "find_files", "args": {"path": "tmp"}}
    assert not accepts(grammar(of, wide), "2 delete_files <1\n")
    narrow: Plan = {"tool": "find_files", "args": {"path": "tmp", "min_size": 1_000_000}}
    assert accepts(grammar(of, narrow), "2 delete_files <1\n")
    of = decoder(shipped, "find the three newest files and copy them to album")
    assert not accepts(grammar(of, FIND), '2 copy_files <1 folder="album"\n')
    three: Plan = {"tool": "take_entries", "args": {"from_step": 1, "count": 3}}
    assert accepts(grammar(of, FIND, three), '3 copy_files <2 folder="album"\n')


def test_what_is_empty_is_looked_at_too(shipped: Checks) -> None:
    of = decoder(shipped, "delete the empty files and list the txt files")
    assert not accepts(grammar(of, {"tool": "find_files", "args": {"pattern": "*.txt"}}), "2 delete_files <1\n")
    assert accepts(grammar(of, {"tool": "find_files", "args": {"max_size": 0}}), "2 delete_files <1\n")
    assert not accepts(grammar(of, FIND), '2 filter_entries <1 field="size" op="ne" value=0\n')


def test_where_it_is_said_to_be_is_looked_at_too(shipped: Checks) -> None:
    of = decoder(shipped, "delete every png in photos")
    everywhere: Plan = {"tool": "find_files", "args": {"pattern": "*.png"}}
    assert not accepts(grammar(of, everywhere), "2 delete_files <1\n")
    there: Plan = {"tool": "find_files", "args": {"path": "photos", "pattern": "*.png"}}
    assert accepts(grammar(of, there), "2 delete_files <1\n")


def test_one_word_is_not_two_things(shipped: Checks) -> None:
    step: Plan = {"tool": "find_texts", "args": {"path": "TODO", "pattern": "TODO", "glob": "*TODO*"}}
    assert twice_named(step, ("path",)) == {"path", "glob"}
    assert twice_named({"tool": "x", "args": {"a": "${step1.x}", "b": "${step1.x}", "c": 1, "d": "*"}}) == set()
    of = decoder(shipped, "look for TODO in TODO", ("find_texts",))
    for seed in range(20):
        found = of.decode(RandomSession(seed))
        assert isinstance(found, Impossible) or not any(map(twice_named, found.plan["steps"]))


def test_a_plan_without_an_end_is_none(shipped: Checks) -> None:
    class Endless(RandomSession):
        def decode(self, grammar: str, *, most_tokens: int) -> Decoded:
            done = super().decode(grammar, most_tokens=most_tokens)
            while done.text == "end\n":
                done = super().decode(grammar, most_tokens=most_tokens)
            return done

    found = decoder(shipped, "sort the rows of each table by its values and show all columns").decode(Endless(1))
    assert isinstance(found, Impossible)


def test_given_inputs_may_be_targets(shipped: Checks) -> None:
    of = decoder(shipped, "delete that file", inputs={"which": {"type": "string"}})
    assert accepts(grammar(of), "1 delete_files path=${INPUT:which}\n")


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("delete that file", "Which file should be deleted?"),
        ("elimina il file", "Quale file va eliminato?"),
        ("create a folder", "What should the folder be called?"),
        ("copy notes.txt", "Where should it go? Name the file or the folder."),
        ("move every pdf changed last week", "Where should it go? Name the file or the folder."),
    ],
)
def test_a_question_where_something_is_missing(shipped: Checks, text: str, question: str) -> None:
    written = decoder(shipped, text).decode(RandomSession())
    assert isinstance(written, Written)
    assert written.plan == {"steps": [{"tool": "ask", "args": {"question": question}}]}
    assert written.usage.tokens_out == 0


def test_what_no_tool_does(shipped: Checks) -> None:
    found = decoder(shipped, "send the report to anna@example.com").decode(RandomSession())
    assert found == Impossible(code="out-of-scope", about="send the report to anna@example.com")


# --- the loop


def refusing(*places: str) -> Any:
    """A judge that finds a fault at each of these places, one a time."""
    left = list(places)

    def judge(plan: Plan, /) -> tuple[Diagnostic, ...]:
        del plan
        return (Diagnostic(code="unknown-tool", where=left.pop(0)),) if left else ()

    return judge


def test_a_refused_plan_is_written_anew_from_its_first_fault(shipped: Checks) -> None:
    of = decoder(shipped, "delete draft.txt", ("delete_files", "find_files"))
    of.judge = refusing("/steps/0/tool")
    written = of.decode(RandomSession(3), steps=(FIND,))
    assert isinstance(written, Written)
    assert written.refused >= 1
    assert written.plan["steps"][0]["tool"] == "delete_files"


def test_it_ends(shipped: Checks) -> None:
    of = decoder(shipped, "delete draft.txt", ("delete_files",))
    of.judge = refusing(*["/steps/0/args/path"] * 9)
    found = of.decode(RandomSession(1))
    assert isinstance(found, Impossible)
    assert found.refused == 1
    of = decoder(shipped, "list the files", ("find_files",))
    of.judge = refusing(*[""] * 9)
    assert isinstance(of.decode(RandomSession(1)), Impossible)


def test_a_line_that_is_cancelled_is_a_fault(shipped: Checks) -> None:
    stop = Stop()
    stop.cancel()
    with pytest.raises(ModelFault, match="cancelled"):
        decoder(shipped, "delete draft.txt").decode(RandomSession(1, stop=stop))


class Costly(RandomSession):
    """Every line of it is said to have cost a thousand tokens."""

    def decode(self, grammar: str, *, most_tokens: int) -> Decoded:
        decoded = super().decode(grammar, most_tokens=most_tokens)
        self.usage += Usage(tokens_out=1_000)
        return decoded


def test_no_line_is_begun_when_enough_has_been_written(shipped: Checks) -> None:
    request = understand("delete draft.txt")
    context = CheckContext(source="model", request=request)
    for tokens, kind in ((1_500, Impossible), (9_000, Written)):
        of = Decoder(shipped, ("delete_files", "find_files"), request, context, bounds=Bounds(tokens=tokens))
        of.judge = refusing("/steps/0/tool")  # two lines and the end are needed at least
        found = of.decode(session := Costly(3), steps=(FIND,))
        assert isinstance(found, kind)
        assert (session.grammars == 2) == (kind is Impossible)


def test_a_request_of_a_thousand_words_offers_no_more_than_a_few_of_its_passages() -> None:
    """Every run of unknown words, each as long text: that was cubic, and took minutes before a model was asked."""
    words = [f"zq{number}" for number in range(1_000)]
    said = Said(understand(f"write {' '.join(words)}"))
    assert said.unexplained[0].data == " ".join(words)
    assert len(said.unexplained) <= MOST_SPANS
    assert len(said.spans) <= MOST_SPANS
    assert [value.data for value in Said(understand("write zq1 zq2")).unexplained] == ["zq1 zq2", "zq1", "zq2"]


@pytest.mark.parametrize("style", [LINES, PLAN_FILE])
def test_no_line_is_longer_than_it_may_be(shipped: Checks, style: Style) -> None:
    """A value of any length: each line is decoded within its own bound, and no bound is far from what is written."""
    long = "x" * 1_000
    text = f'write "{long}" to notes.txt, find the pdf files over 2 MB, sort them by size and count the lines of a.txt'
    for seed in range(12):
        of = decoder(shipped, text)
        of.style, of.bounds = style, Bounds(tokens=50_000)
        session = Longest(seed)
        of.decode(session)
        assert session.decoded
        assert all(written <= most for written, most in session.decoded)
        assert max(most for _, most in session.decoded) < 4 * len(long)


class Longest(RandomSession):
    """Remembers how long each line was, in bytes, and how long it might have been."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.decoded: list[tuple[int, int]] = []

    def decode(self, grammar: str, *, most_tokens: int) -> Decoded:
        decoded = super().decode(grammar, most_tokens=most_tokens)
        self.decoded.append((len(decoded.text.encode()), most_tokens))
        return decoded


@pytest.mark.parametrize(
    ("where", "choice"),
    [
        ("/steps/0/tool", Choice("t")),
        ("/steps/0/args/a", Choice("t", "a", "1")),
        ("/steps/0/args/b~1c/0", Choice("t", "b/c", "[2]")),
        ("/steps/0/args/from_step", Choice("t", SOURCE, "3")),
        ("/steps/0/args/other", Choice("t", SOURCE, "3")),
        ("/steps/0/args", Choice("t")),
    ],
)
def test_what_a_fault_closes(where: str, choice: Choice) -> None:
    assert choice_of(where, {"tool": "t", "args": {"a": 1, "b/c": [2], "from_step": 3}}) == choice


def test_which_step_a_fault_is_of() -> None:
    assert [step_of(where, 2) for where in ("/steps/1/tool", "/steps/7/args", "/steps", "")] == [1, 2, 2, 2]
    assert choice_of("/steps/0/args/x", {"tool": "t", "args": {}}) == Choice("t")
