"""How `make docs-html` builds this folder: Sphinx, MyST, furo; no network, no font or script from elsewhere.

Law: the pages are Markdown that also reads well in the repository, so nothing of Sphinx stands in them that a plain
reader would stumble over, but for `index.md` and `api.md`. What only the site needs is added here.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from metnos import __version__

HERE = Path(__file__).resolve().parent

project = "Metnos"
author = "the Metnos authors"
copyright = "the Metnos authors, Apache-2.0"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["programs/**"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
highlight_language = "none"

html_theme = "furo"
html_title = f"Metnos {__version__}"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["metnos.css"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
default_role = "literal"  # docstrings are Markdown: single backticks are code
nitpick_ignore_regex = [("py:.*", ".*")]  # types of other libraries have no page here; links in Markdown are checked


DECISIONS = "\n\n```{toctree}\n:hidden:\n:glob:\n\n[0-9]*\n```\n"


def fragments() -> str:
    """The changes to come, as a release would gather them."""
    done = subprocess.run(
        [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "next"],
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return "\n" + done.stdout.replace("](docs/", "](")


def inline(found: re.Match[str]) -> str:
    """A drawing in the page itself, so that its colour is that of the text, in light and in dark."""
    drawn = (HERE / found[1]).read_text(encoding="utf-8")
    return "```{raw} html\n" + re.sub(r"<style>.*?</style>\n", "", drawn) + "```"


def add_parts(_app: Any, page: str, source: list[str]) -> None:
    """Add what a page has on the site only."""
    if page == "adr/README":
        source[0] += DECISIONS
    elif page == "changelog":
        source[0] += fragments()
    source[0] = source[0].replace("```mermaid\n", "```text\n")  # drawing it takes a script from elsewhere
    source[0] = re.sub(r"^!\[[^]]*\]\((_static/[a-z-]+\.svg)\)$", inline, source[0], flags=re.MULTILINE)
    above = "../" * (page.count("/") + 1)
    source[0] = re.sub(rf"\[([^]]*)\]\({re.escape(above)}[^)]*\)", r"\1", source[0])  # a file that is no page: its name


def spell(_app: Any, what: str, name: str, _item: Any, _options: Any, lines: list[str]) -> None:
    """A docstring of ours is Markdown: code in single backticks, examples indented behind an empty line."""
    found = [re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", line) for line in lines]
    for at in range(1, len(found) - 1):
        indented = found[at + 1].startswith("    ") and not found[at] and found[at - 1][:1] not in ("", " ")
        if indented and not found[at - 1].endswith("::"):
            found[at] = "\n::\n"
    lines[:] = "\n".join(found).split("\n")
    if what == "attribute":
        kept[name] = [*lines]


kept: dict[str, list[str]] = {}
"""Docstrings of attributes: napoleon takes what stands before a colon for a type."""


def put_back(_app: Any, what: str, name: str, _item: Any, _options: Any, lines: list[str]) -> None:
    """An attribute's docstring as it was before napoleon."""
    if what == "attribute":
        lines[:] = kept.get(name, lines)


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_parts)
    app.connect("autodoc-process-docstring", spell, priority=400)  # before napoleon reads them
    app.connect("autodoc-process-docstring", put_back, priority=600)
