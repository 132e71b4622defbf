"""The GitHub action: its steps are run as the runner runs them, with hostile inputs among them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from metnos import Engine
from tests.support.turnfiles import record, write_turns

ACTION = Path(".github/actions/metnos-eval")
INPUT = re.compile(r"\$\{\{ inputs\.(?P<name>[a-z]+) \}\}")


@pytest.fixture(scope="module")
def turns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("action")
    (here := top / "here").mkdir()
    (here / "a.txt").write_text("alpha")
    with Engine.open(home=str(top / "home"), folder=here) as engine:
        write_turns(top / "turns.jsonl", record(engine, "how many files are here"))
    return top / "turns.jsonl"


def step(folder: Path, root: Path, **given: str) -> subprocess.CompletedProcess[str]:
    variables = {"RUN": "", "BASELINE": "", "OUT": "now.json", "JUNIT": "", "HOME_OF_METNOS": "", **given}
    runner = {"GITHUB_OUTPUT": str(folder / "output"), "GITHUB_STEP_SUMMARY": str(folder / "summary")}
    bin_ = str(Path(sys.executable).parent)
    environment = {"PATH": f"{bin_}:/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    return subprocess.run(
        ["sh", root / ACTION / "evaluate.sh"],
        cwd=folder,
        env={**environment, **runner, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_its_steps_pass_fail_and_say_why(turns, root, tmp_path):
    run = tmp_path / "RUN.toml"
    run.write_text(f'form = "metnos.run/1"\n[turns]\npath = "{turns}"\n')
    good = step(tmp_path, root, RUN="RUN.toml", OUT="base.json")
    assert good.returncode == 0, good.stderr
    assert (tmp_path / "output").read_text() == "result=base.json\npassed=true\n"
    run.write_text(run.read_text() + '[parts.cache]\nmode = "off"\n')
    bad = step(tmp_path, root, RUN="RUN.toml", BASELINE="base.json", JUNIT="junit.xml")
    assert bad.returncode == 1
    assert "::error file=RUN.toml,line=1,title=not-served" in bad.stdout
    assert (tmp_path / "output").read_text().endswith("result=now.json\npassed=false\n")
    summary = (tmp_path / "summary").read_text()
    assert "WORSE: 1 requests are no longer served" in summary
    assert "::error" not in summary
    assert (tmp_path / "junit.xml").exists()


def test_an_input_is_never_part_of_a_script(root, tmp_path):
    done = step(tmp_path, root, RUN="$(touch owned); `touch owned` 'x.toml")
    assert done.returncode == 2
    assert not (tmp_path / "owned").exists()
    text = (root / ACTION / "action.yml").read_text()
    for line in text.splitlines():
        if INPUT.search(line):
            assert re.fullmatch(r"\s+[A-Z_]+: \$\{\{ inputs\.[a-z]+ \}\}", line), line
    declared = set(re.findall(r"^  ([a-z]+):$", text.partition("outputs:")[0], re.MULTILINE))
    assert declared == set(INPUT.findall(text))
    assert 'run: sh "$GITHUB_ACTION_PATH/evaluate.sh"' in text
