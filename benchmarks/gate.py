"""The gate of a model: set on the calibration requests, judged on those that were left out.

    .venv/bin/python benchmarks/gate.py --model FILE.gguf [--language it] [--keep FOLDER]

Prints the gauge, the rates by cross-validation, the requests nearest to the threshold on either side, and as last line
JSON. `--keep` writes it into FOLDER/gauges.toml, where an installation's own gauges are read from.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from metnos.contracts.load import load_catalog
from metnos.propose import acts
from metnos.propose.candidates import Candidates
from metnos.propose.models.llama import open_model
from metnos.propose.models.ports import Stop
from metnos.propose.prompt.blocks import prefix
from metnos.propose.prompt.gate import calibration_cases, margin, save_gauge
from metnos.propose.prompt.gauge import Case, best_of, left_out, rates
from metnos.propose.routing import route
from metnos.request.understand import understand
from metnos.settings import shipped_catalog


class Weights(NamedTuple):
    name: str
    file: Path
    sha256: str = ""
    context: int = 4096
    threads: int | None = None


def measured(arguments: argparse.Namespace) -> dict[str, object]:
    catalog = load_catalog(shipped_catalog(), home=None)
    candidates = Candidates(contract for _, contract in sorted(catalog.contracts().items()))
    model = open_model(Weights(arguments.model.stem, arguments.model), state_folder=arguments.state)
    found: list[Case] = []
    seconds: list[float] = []
    asked = calibration_cases()
    with closing(model):
        with closing(model.session(prefix(candidates, arguments.language), stop=Stop())) as session:
            before, mark = session.usage, session.mark()
            for one in asked:
                begun = time.monotonic()
                session.rewind(mark)
                session.ask(one.text)
                weak = route(understand(one.text, one.language), catalog).weak
                found.append(Case(margin(session), weak, one.possible))
                seconds.append(time.monotonic() - begun)
        reading: list[float] = []
        with closing(model.session(acts.prefix(), stop=Stop())) as session:
            mark = session.mark()
            for number, one in enumerate(asked):
                begun = time.monotonic()
                session.rewind(mark)
                session.ask(one.text)
                found[number] = found[number]._replace(other=round(acts.left_to_others(session), 3))
                reading.append(time.monotonic() - begun)
        gauge, out = best_of(found)
        unread = [case._replace(other=None) for case in found]
        near = sorted(zip(found, asked, strict=True), key=lambda pair: abs(pair[0].margin - gauge.least))
        for case, one in near[:8]:
            print(
                f"{case.margin:7.2f} {case.other:7.2f} {'weak' if case.weak else '    '} {'can' if case.possible else 'not'}  {one.text}"
            )
        if arguments.keep is not None:
            save_gauge(arguments.keep, model.digest, gauge)
        read, yes = left_out(found), left_out(unread)
        alone = left_out([case._replace(weak=False) for case in unread])
        return {
            "model": model.digest,
            "least": gauge.least,
            "weak": gauge.weak,
            "other": gauge.other,
            "refused": out.refused,
            "false": out.false,
            "refused_by_reading": read.refused,
            "false_by_reading": read.false,
            "refused_by_yes": yes.refused,
            "false_by_yes": yes.false,
            "refused_without_routing": alone.refused,
            "false_without_routing": alone.false,
            "refused_on_itself": rates(gauge, found).refused,
            "routing_alone": [sum(case.weak for case in found if case.possible is kind) for kind in (False, True)],
            "cases": len(found),
            "prefix_tokens": before.tokens_in,
            "seconds_a_request": round(statistics.median(seconds), 2),
            "seconds_a_reading": round(statistics.median(reading), 2),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument(
        "--language", choices=("en", "it"), help="of the whole prompt; default: English, examples mixed"
    )
    parser.add_argument("--state", type=Path, help="folder where the state of the prefix is kept")
    parser.add_argument("--keep", type=Path, help="folder of gauges.toml")
    print(json.dumps(measured(parser.parse_args())))


if __name__ == "__main__":
    main()
