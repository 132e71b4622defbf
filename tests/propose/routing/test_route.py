"""Routing over the shipped executors and over tools of others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from metnos.contracts.catalog import Catalog
from metnos.contracts.foreign import foreign_contract
from metnos.contracts.model import Contract
from metnos.propose.routing import Routed, Router, route
from metnos.propose.routing.parts import MOST_PARTS
from metnos.request.lexicon import lexicons_with
from metnos.request.understand import Normaliser, understand


def tool(name: str, description: str, effect: Any = "read", **parameters: str) -> Contract:
    return foreign_contract(
        name, {key: {"type": kind} for key, kind in parameters.items()}, effect=effect, description=description
    )


@pytest.fixture(scope="module")
def router(shipped: Catalog) -> Router:
    return Router(shipped)


NEEDED: dict[str, set[str]] = {
    "the five largest files in docs": {"find_files", "sort_entries", "take_entries"},
    "average amount per customer in sales.csv": {"read_files_csv", "group_entries"},
    "i cinque file più grandi in docs": {"find_files", "sort_entries", "take_entries"},
    "trova i file duplicati e salva la lista in dup.txt": {"find_files", "compute_files_hash", "write_files", "render_table"},
    "delete all tmp files. Then list what is left": {"find_files", "delete_files"},
    "rename a.txt to b.txt": {"move_files"},
    "create a folder called reports": {"create_dirs"},
    "get rid of temp/a.tmp": {"delete_files"},
    "throw away draft.txt": {"delete_files"},
    "throw draft.txt away": {"delete_files"},
    "butta via il file vuoto.txt": {"delete_files"},
    "cambia nome a bozza.md, deve essere finale.md": {"move_files"},
}  # fmt: skip


@pytest.mark.parametrize(("said", "needed"), NEEDED.items(), ids=NEEDED)
def test_what_a_plan_needs_may_be_named(router: Router, said: str, needed: set[str]) -> None:
    routed = router(understand(said))
    assert needed <= set(routed.names)
    assert routed.unserved == ()
    assert not routed.weak


UNSERVED = [
    "turn on the lights",
    "send an email to Bob",
    "what's the weather in Rome?",
    "translate report.txt to French",
    "find me a good restaurant",
    "delete the folder old",
    "accendi le luci",
    "invia un messaggio a Maria",
    "elimina la cartella vecchia",
]


@pytest.mark.parametrize("said", UNSERVED)
def test_what_no_tool_serves_is_named(router: Router, said: str) -> None:
    routed = router(understand(said))
    assert routed.unserved == (said.rstrip("?"),)
    assert routed.weak


def test_only_the_part_that_is_unserved_is_named(router: Router) -> None:
    routed = router(understand("find the files in docs and send an email to Bob"))
    assert routed.unserved == ("send an email to Bob",)
    assert [clause.served for clause in routed.clauses] == [True, False]


def test_what_goes_on_with_files_is_served(router: Router) -> None:
    assert router(understand("find the log files and move them into archive")).unserved == ()
    assert router(understand("delete a.txt and list what stays")).unserved == ()


@pytest.mark.parametrize(
    ("said", "unserved"),
    [
        ("Read a.txt. Turn on the lights", "Turn on the lights"),
        ("read a.txt and turn on the lights", "turn on the lights"),
        ("leggi a.txt e accendi le luci", "accendi le luci"),
        ("Comprimi la cartella photos in un archivio zip", "Comprimi la cartella photos in un archivio zip"),
        ("Compress the folder photos into a zip archive", "Compress the folder photos into a zip archive"),
    ],
)
def test_an_unknown_verb_begins_a_part(router: Router, said: str, unserved: str) -> None:
    assert router(understand(said)).unserved == (unserved,)


def test_effects_that_nobody_asked_for_cannot_be_named(shipped: Catalog, router: Router) -> None:
    reads = {name for name, c in shipped.contracts().items() if any(rule.effect == "read" for rule in c.effects)}
    for said in ("list the files", "wobble", "the largest file", "don't delete anything, list the files"):
        routed = router(understand(said))
        assert set(routed.names) <= reads
        assert routed.effects == {"read"}
    routed = router(understand("delete a.txt"))
    assert routed.effects == {"read", "delete"}
    assert "delete_files" in routed.names
    assert "write_files" not in routed.names


def test_a_weak_signal_leaves_all_that_is_admitted(shipped: Catalog, router: Router) -> None:
    routed = router(understand("wobble the frobnicators"))
    assert routed.weak
    assert len(routed.names) == sum(any(r.effect == "read" for r in c.effects) for c in shipped.contracts().values())


def many(count: int) -> Catalog:
    return Catalog().with_contracts([tool(f"getThing{n:04}", f"Gets thing number{n}") for n in range(count)])


def test_a_large_catalog_is_cut_at_the_cap_and_widened_once() -> None:
    router = Router(many(500))
    assert len(router(understand("gets thing"), cap=5).names) == 5
    assert len(router(understand("gets zzz yyy xxx www"), cap=5).names) <= 10
    assert router(understand("")).names == ()


def test_ties_go_by_name() -> None:
    names = Router(many(50))(understand("the thing"), cap=8).names
    assert list(names) == [f"getThing{n:04}" for n in range(8)]


def test_no_clause_starves() -> None:
    noisy = [tool(f"alpha{n}", "alpha alpha books") for n in range(40)]
    router = Router(Catalog().with_contracts([*noisy, tool("omegaFind", "omega stones")]))
    assert "omegaFind" in router(understand("Give alpha books. Give omega stones."), cap=4).names


def test_words_that_were_stuffed_do_not_push_out_a_family(shipped: Catalog) -> None:
    words = "find files largest sort take delete list folder docs read text csv size " * 200
    stuffed = [tool(f"evil.{n:02}", words) for n in range(60)]
    routed = Router(shipped.with_contracts(stuffed))(understand("the five largest files in docs"))
    assert {"find_files", "sort_entries", "take_entries"} <= set(routed.names)
    assert routed.names[0] == "find_files"


def test_foreign_tools_of_another_language_are_found() -> None:
    tools = [
        tool("meteo", "Previsioni del tempo per una città", città="string"),
        tool("borsa", "Quotazioni di un titolo"),
    ]
    router = Router(Catalog().with_contracts(tools))
    assert router(understand("che previsioni ci sono per le citta del nord?")).names[0] == "meteo"


def test_a_provider_that_is_named_comes_first() -> None:
    tools = [tool(f"{server}.search", "Searches notes for words", text="string") for server in ("acme", "zeta")]
    router = Router(Catalog().with_contracts(tools))
    assert router(understand("search notes using zeta")).names[0] == "zeta.search"
    assert router(understand("search notes using acme")).names[0] == "acme.search"


def test_what_does_not_run_here_or_has_failed_is_left_out(shipped: Catalog) -> None:
    import msgspec

    here = msgspec.structs.replace(tool("weather", "Says the weather"), platforms=("linux",))
    catalog = shipped.with_contracts([here])
    said = understand("says the weather")
    assert "weather" in Router(catalog, platform="linux")(said).names
    assert "weather" not in Router(catalog, platform="win32")(said).names
    assert "weather" not in Router(catalog, platform="linux")(said, without={"weather"}).names


def test_the_index_goes_with_its_catalog() -> None:
    import gc
    import weakref

    catalog = many(3)
    assert route(understand("thing"), catalog) == route(understand("thing"), catalog)
    gone = weakref.ref(catalog)
    del catalog
    gc.collect()
    assert gone() is None


PROGRAM = """
from metnos.contracts.catalog import Catalog
from metnos.contracts.foreign import foreign_contract
from metnos.propose.routing import route
from metnos.request.lexicon import lexicons_with
from metnos.request.understand import Normaliser, understand
tools = [foreign_contract(f"t{n}", effect="read", description=f"gives {a} and {b} stones") for n, (a, b) in
         enumerate((a, b) for a in ("red", "blue", "green") for b in ("old", "big", "red"))]
print(route(understand("give me blue stones. Then red ones and green ones"), Catalog().with_contracts(tools), cap=5))
"""


def test_the_hash_seed_changes_nothing() -> None:
    said = {
        subprocess.run([sys.executable, "-c", PROGRAM], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True).stdout
        for seed in ("0", "7")
    }  # fmt: skip
    assert len(said) == 1
    assert "t3" in said.pop()


def test_nothing_heavy_is_loaded_before_a_request() -> None:
    program = "import sys, metnos.propose.routing; assert not {'numpy', 'bm25s'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_verb_that_an_operator_added_is_known(router: Router, tmp_path: Path) -> None:
    words = tmp_path / "words.toml"
    words.write_text('language = "en"\nsynonyms = "delete|scrap"\n')
    assert router(understand("scrap a.txt")).unserved == ("scrap a.txt",)
    routed = router(Normaliser(lexicons_with([words]))("scrap a.txt"))
    assert routed.unserved == ()
    assert routed.names[0] == "delete_files"


def test_what_only_opens_a_sentence_is_no_part_of_its_own(router: Router) -> None:
    routed = router(understand("Finally, list the files in docs"))
    assert [clause.text for clause in routed.clauses] == ["Finally, list the files in docs"]


def test_a_request_of_many_clauses_has_a_bounded_number_of_parts(router: Router) -> None:
    said = ", ".join(f"list the files in d{number}" for number in range(100)) + " and delete x.txt"
    routed = router(understand(said))
    assert len(routed.clauses) == MOST_PARTS
    assert "delete_files" in routed.names
    assert len(router(understand("List a.txt. " * 100)).clauses) == 1


def test_any_text_is_routed(router: Router) -> None:
    for said in ("", " ", "...", "a.b.c?!\n\n;", "\x00", "「」", "x " * 2000, "find. " * 100):
        assert isinstance(router(understand(said)), Routed)


PLAIN = [
    ("en", "what's in wifi.txt"),
    ("en", "what changed today"),
    ("en", "get rid of temp/a.tmp"),
    ("en", "throw away draft.txt"),
    ("en", "throw draft.txt away"),
    ("en", "what's the average of hours in hr/staff.json"),
    ("it", "butta via vuoto.txt"),
    ("it", "cosa è cambiato ieri in progetto"),
    ("it", "quanto viene in totale la colonna prezzo di negozio/ordini.csv"),
    ("it", "In spese/scontrini.jsonl: quanto fa in tutto alla Coop?"),
    ("en", "the rows of stock.tsv with total over 30"),
]  # fmt: skip
NOT_PLAIN = [
    ("en", "translate letter.txt into German"),
    ("en", "give me a summary of minutes.docx"),
    ("it", "manda scontrini.jsonl al mio capo"),
    ("en", "convert foto/logo.png to jpg"),
    ("en", "send orders.csv to my boss"),
    ("en", "plot sales.csv"),
    ("en", "write a poem about the sea into verses.csv"),
    ("en", "sort it out"),
    ("en", "throw a party in the folder docs"),
    ("it", "fammi un riassunto di verbale.docx"),
    ("it", "riassumi verbale.md in tre righe"),
    ("it", "manda ordini.csv al mio capo"),
    ("it", "proteggi stipendi.csv con una password"),
    ("it", "aggiungi la filigrana a foto/cantiere.jpg"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "said"), PLAIN, ids=[said for _, said in PLAIN])
def test_nothing_is_left_to_judge_where_tools_know_all_that_is_said(router: Router, language: str, said: str) -> None:
    assert router(understand(said, language)).plain


@pytest.mark.parametrize(("language", "said"), NOT_PLAIN, ids=[said for _, said in NOT_PLAIN])
def test_what_no_tool_knows_is_left_to_a_gate(router: Router, language: str, said: str) -> None:
    assert not router(understand(said, language)).plain


def test_words_of_free_tools_leave_nothing_plain() -> None:
    """Many descriptions know many words; only families of the vocabulary say what a tool does."""
    router = Router(Catalog().with_contracts([tool("play", "Play music of a folder and stop it", path="string")]))
    assert not router(understand("play the music of the folder", "en")).plain
