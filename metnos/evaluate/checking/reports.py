"""A compared result as JUnit XML and as annotations of a forge.

Law: what is named in them comes from logs, so every text is escaped, and characters that XML cannot hold are spelled out.
One test case for each measure that was compared, one for each regression of turns.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Final

from metnos.evaluate.running.telling import regression_lines, speaker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from metnos.evaluate.measures.result import EvalResult, Regression

SUITE: Final = "metnos eval"
ESCAPES: Final = {"%": "%25", "\r": "%0D", "\n": "%0A"}
"""In the message of a workflow command; in a property also `:` and `,`."""


def junit(result: EvalResult) -> bytes:
    """The result as one `testsuite`."""
    cases = [*_measures(result), *_turns(result)]
    failed = sum(case.find("failure") is not None for case in cases)
    skipped = sum(case.find("skipped") is not None for case in cases)
    suite = ET.Element(
        "testsuite",
        name=SUITE,
        tests=str(len(cases)),
        failures=str(failed),
        errors="0",
        skipped=str(skipped),
        time=f"{result.meta.seconds:.3f}",
    )
    suite.extend(cases)
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="utf-8") + b"\n"


def annotated(result: EvalResult, file: Path, language: str | None = None) -> Iterator[str]:
    """A line for each regression, as GitHub takes it from a step's output: an error, or a warning if it is ignored."""
    for one in result.regressions:
        level = "warning" if one.ignored else "error"
        told = "\n".join(regression_lines(one, speaker(language)))
        title = _property(f"{one.kind}: {one.what}")
        yield f"::{level} file={_property(file.as_posix())},line=1,title={title}::{_message(told)}"


def _measures(result: EvalResult) -> Iterator[ET.Element]:
    worse = {one.what: one for one in result.regressions if one.kind == "measure"}
    for one in result.differences:
        case = ET.Element("testcase", classname=f"{SUITE}.measure", name=_xml(one.measure))
        if one.measure in worse:
            _fail(case, worse[one.measure])
        yield case


def _turns(result: EvalResult) -> Iterator[ET.Element]:
    for one in result.regressions:
        if one.kind != "measure":
            case = ET.Element("testcase", classname=f"{SUITE}.{one.kind}", name=_xml(one.what))
            _fail(case, one)
            yield case


def _fail(case: ET.Element, one: Regression) -> None:
    first, *rest = regression_lines(one, speaker("en"))
    child = ET.SubElement(case, "skipped" if one.ignored else "failure", message=_xml(first))
    child.text = _xml("\n".join(rest))


def _xml(text: str) -> str:
    """`text` without what XML 1.0 has no way to hold."""
    return "".join(one if _is_char(ord(one)) else f"\\u{ord(one):04x}" for one in text)


def _is_char(code: int) -> bool:
    return code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000


def _message(text: str) -> str:
    return "".join(ESCAPES.get(one, one) for one in text)


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
