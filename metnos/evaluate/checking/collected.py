"""What the plugin collects: a case is a test, a run file is a test.

Law: a test fails with what is not met or what is worse, in the words of `metnos`, and without a traceback of this code;
what cannot be read is an error with its place. Nothing is run and nothing is written beside the files: rows go to a folder
of pytest's own.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.evaluate.measures.result import EvalResult
    from metnos.evaluate.running.parts import RunParts

PARTS = pytest.StashKey["dict[Path, RunParts]"]()
"""Folder → the parts that its cases are tried with."""


class Unmet(Exception):
    """A test that does not hold; its text is what pytest shows."""


class _Item(pytest.Item):
    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Our own words for our own failures."""
        if isinstance(excinfo.value, Unmet):
            return str(excinfo.value)
        code: Any = getattr(excinfo.value, "code", None)
        if isinstance(code, str):
            return f"{code}: {excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """The file itself."""
        return self.path, 0, self.name


class CaseItem(_Item):
    """One case, tried on its observations."""

    def runtest(self) -> None:
        """Fail with what is not met."""
        from metnos.evaluate.cases.files import load_case
        from metnos.evaluate.cases.trying import try_case

        found = try_case(load_case(self.path), _parts_for(self.config, self.path.parent))
        if found:
            raise Unmet("\n".join(_line(one) for one in found))


class CaseFile(pytest.File):
    """A file with one case."""

    def collect(self) -> Iterator[CaseItem]:
        """The case."""
        item: Any = CaseItem
        yield item.from_parent(self, name="case")


class RunItem(_Item):
    """One run, compared with its baseline."""

    def runtest(self) -> None:
        """Fail with what is worse."""
        from metnos.evaluate.running.runfile import read_run

        run = read_run(self.path)
        given: str | None = self.config.getoption("--metnos-baseline")
        written = run.file.compare.baseline
        if not (given or written):
            pytest.skip("no baseline: --metnos-baseline FILE, or `[compare] baseline` in the run file")
        baseline = self.config.invocation_params.dir / given if given else run.path(written)
        with tempfile.TemporaryDirectory(prefix="metnos-eval-") as scratch:
            result = _compared(run, baseline, Path(scratch) / "result.json")
        if not result.passed:
            raise Unmet("\n".join(_told(result)))


class RunFile(pytest.File):
    """A run file."""

    def collect(self) -> Iterator[RunItem]:
        """The run."""
        item: Any = RunItem
        yield item.from_parent(self, name="baseline")


def _parts_for(config: pytest.Config, folder: Path) -> RunParts:
    """What the cases of a folder are tried with; opened once."""
    from metnos.evaluate.cases.trying import parts_beside
    from metnos.settings import load_settings

    opened = config.stash.setdefault(PARTS, {})
    if folder not in opened:
        opened[folder] = parts_beside(folder, load_settings())
    return opened[folder]


def _compared(run: Any, baseline: Path, out: Path) -> EvalResult:
    from metnos.evaluate.collections.opening import open_collection
    from metnos.evaluate.comparing.baseline import compare, read_result
    from metnos.evaluate.running.evaluating import Evaluation
    from metnos.evaluate.running.imported import imported
    from metnos.evaluate.running.rows import rows_path
    from metnos.settings import load_settings

    read_result(baseline)
    run, _ = imported(run, out.with_name("imported"))
    collection = open_collection(run.path(run.file.turns.path))
    result = Evaluation(run, load_settings(), collection).evaluate(out)
    return compare(result, rows_path(out), baseline, run.file.compare)


def _told(result: EvalResult) -> Iterator[str]:
    from metnos.evaluate.running.telling import regression_lines, speaker

    for one in result.regressions:
        yield from regression_lines(one, speaker("en"))


def _line(one: Any) -> str:
    place = f" at step {one.step}" if one.step else ""
    expected = f"expected {one.expected!r}, " if one.expected else ""
    return f"{one.what}{place}: {expected}found {one.found!r}"
