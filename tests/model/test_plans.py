"""Plans of small models: right or not, each one parses and holds, and none names a tool that was not a candidate."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from metnos.checks.model import CheckContext
from metnos.contracts.catalog import Catalog
from metnos.contracts.manifest import read_manifest
from metnos.contracts.model import Contract
from metnos.plan.notation import parse_lines
from metnos.propose.candidates import Candidates
from metnos.propose.decode.loop import Decoder
from metnos.propose.decode.model import Written
from metnos.propose.decode.state import Checks
from metnos.propose.models.llama import open_model
from metnos.propose.models.ports import Message, Stop
from metnos.propose.prompt.blocks import OPENING, prefix
from metnos.propose.prompt.examples import shipped
from metnos.propose.routing import route
from metnos.request.understand import understand
from tests.model.conftest import LARGER, SMALL, weights

COUNTS = {SMALL: 140, LARGER: 60}
"""Model → requests; together 200."""
EN = (
    [
        "list",
        "find",
        "count",
        "show",
        "delete",
        "move",
        "copy",
        "read",
        "sort",
        "save",
        "write",
        "rename",
        "sum",
        "call",
    ],
    ["the pdf files", "a.txt", "the 3 largest files", "rows of x.csv", '"hello"', "all logs", "folders", "it", "DROP"],
    [
        "in docs",
        "into old",
        "as a table",
        "by size",
        "older than 30 days",
        "over 2 MB",
        "to b.txt",
        "where n is 4",
        "now",
    ],
)
IT = (
    [
        "elenca",
        "trova",
        "conta",
        "mostra",
        "elimina",
        "sposta",
        "copia",
        "leggi",
        "ordina",
        "salva",
        "scrivi",
        "chiama",
    ],
    ["i file pdf", "a.txt", "i 3 file più grandi", "le righe di x.csv", '"ciao"', "tutti i log", "le cartelle", "boh"],
    ["in docs", "in vecchi", "come tabella", "per dimensione", "più vecchi di 30 giorni", "oltre 2 MB", "dove n è 4"],
)
NOISE = (
    "",
    "",
    "",
    " <|im_end|>",
    " ${step1}",
    "\nend",
    " and `rm -rf /`",
    " e poi esegui shell_run",
    "\u202e",
    ' "',
    " ]}",
)


@pytest.fixture(scope="module")
def catalog(root: Path) -> Catalog:
    contracts = [read_manifest(path.read_bytes()) for path in sorted((root / "manifests").glob("*.toml"))]
    return Catalog().with_contracts([contract for contract in contracts if isinstance(contract, Contract)])


def requests(count: int, seed: int) -> list[tuple[str, str]]:
    random, found = Random(seed), list[tuple[str, str]]()
    for number in range(count):
        language, parts = ("en", EN) if number % 2 else ("it", IT)
        said = " ".join(random.choice(part) for part in parts)
        if random.random() < 0.3:
            said += (" and " if language == "en" else " e ") + " ".join(random.choice(part) for part in parts)
        found.append((language, said + random.choice(NOISE)))
    return found


# One of these requests keeps SmolLM2 busy for minutes; until that is found, `METNOS_TEST_PLANS=1` runs them.
@pytest.mark.skipif("METNOS_TEST_PLANS" not in os.environ, reason="set METNOS_TEST_PLANS: one request takes minutes")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", [SMALL, LARGER])
def test_every_plan_holds_and_names_candidates_only(name: str, catalog: Catalog, states: Path) -> None:
    checks = Checks(catalog)
    few = Candidates(contract for _, contract in sorted(catalog.contracts().items()))
    told: tuple[Message, ...] = prefix(few)
    plans = 0
    with closing(open_model(weights(name)._replace(context=4_096), state_folder=states)) as model:
        begun: Any = model.session(told[:1] + told[-16:], stop=Stop())  # shorter: what is tried is the grammar
        with closing(begun) as session:
            mark = session.mark()
            for language, text in requests(COUNTS[name], seed=len(name)):
                understood = understand(text, language)
                names = route(understood, catalog).names
                decoder = Decoder(checks, names, understood, CheckContext(source="model", request=understood))
                session.rewind(mark)
                session.ask(text)
                session.feed(OPENING)
                written = decoder.decode(session)
                if not isinstance(written, Written):
                    continue
                plans += 1
                assert decoder.judge(written.plan) == (), text
                tools = {step["tool"] for step in written.plan["steps"]} - {"final_answer", "ask"}
                assert tools <= set(names), text
                if written.lines:
                    assert not parse_lines("".join(written.lines)).diagnostics, text
    assert plans >= COUNTS[name] // 4  # most of the rest is refused before a model is asked


def test_the_prefix_is_short(model: Any, catalog: Catalog) -> None:
    told = prefix(Candidates(contract for _, contract in sorted(catalog.contracts().items())))
    assert sum(len(model._library.tokens(one.content)) + 4 for one in told) <= 2_200
    assert len(told) > 2 * len(shipped().impossible)
