"""The page in a real Chromium: hostile text, no request, the keyboard, two themes, two widths, what a screen reader is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metnos.evaluate.reporting.model import shown
from metnos.evaluate.reporting.page import html_of
from tests.evaluate.reporting.reports import ATTACKS, hostile, ordinary
from tests.support.browser import CHROMIUM, Browser, Page

pytestmark = [
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine"),
    pytest.mark.xdist_group("browser"),
]


# The fragment is dropped by the event that follows the closing: looked at until it is gone, ten seconds at most.
GONE = """new Promise((done) => {
    const until = Date.now() + 10_000;
    const look = () => location.hash && Date.now() < until ? setTimeout(look, 10) : done(location.hash);
    look();
})"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser.start(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(html_of(ordinary(250)), encoding="utf-8")
    return path


def quiet(page: Page, path: Path) -> None:
    """Nothing was asked for but the page itself, and nothing went wrong in it."""
    asked = [one["request"]["url"].partition("#")[0] for one in page.told("Network.requestWillBeSent")]
    assert asked == [path.as_uri()]
    assert page.told("Runtime.exceptionThrown") == []
    assert [one["entry"]["text"] for one in page.told("Log.entryAdded")] == []


def test_hostile_text_stays_text(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(html_of(hostile()), encoding="utf-8")
    page = browser.open(path)
    count = "[document.scripts.length, document.querySelectorAll('img,iframe,object,embed,link,base,form,a:not(.skip)').length]"
    assert page.value(count) == [2, 0]
    buttons = page.value("[...document.querySelectorAll('#list button')].map((one) => one.textContent)")
    assert sorted(buttons) == sorted(shown(text, 240) for text in ATTACKS)
    for number, text in enumerate(buttons):
        page.value(f"document.querySelectorAll('#list button')[{number}].click()")
        assert page.value("document.getElementById('turn').open")
        assert page.value("document.getElementById('turn-title').textContent") == text
        body = page.value("document.querySelector('#turn .body').textContent")
        assert body.count(text) >= 4
        page.value("document.getElementById('close').click()")
    assert page.value(count) == [2, 0]
    assert page.value("document.title") == "turns"
    assert page.value(
        "[...document.querySelectorAll('*')].every((one) => [...one.attributes].every((a) => !a.name.startsWith('on')))"
    )
    quiet(page, path)


def test_what_is_put_into_the_page_later_cannot_run_either(browser: Browser, page_file: Path) -> None:
    page = browser.open(page_file)
    page.value(
        "document.body.insertAdjacentHTML('beforeend', `<img src=x onerror=\"document.title='owned'\"><div onclick=\"document.title='owned'\" id=evil style='color:red'>x</div>`)"
    )
    page.value("document.getElementById('evil').click()")
    page.value(
        "const made = document.createElement('script'); made.textContent = \"document.title = 'owned'\"; document.body.append(made)"
    )
    assert page.value("fetch('https://example.org/').then(() => 'sent', () => 'refused')") == "refused"
    assert page.value("document.title") == "turns"
    assert page.value("document.getElementById('evil').style.color") == ""
    urls = [one["request"]["url"] for one in page.told("Network.requestWillBeSent")]
    assert [url for url in urls if not url.startswith("file:")] == []


def test_a_turn_is_opened_read_and_closed_by_keyboard_alone(browser: Browser, page_file: Path) -> None:
    page = browser.open(page_file)
    page.press("Tab")
    assert page.value("document.activeElement.className") == "skip"
    page.press("Enter")
    page.press("Tab")
    assert page.value("document.activeElement.id") == "filter"
    page.type("t-17 ")
    found = page.value("[...document.querySelectorAll('#list tbody tr')].length")
    assert found == page.value("document.getElementById('shown').textContent.match(/of (\\d+)/)[1] * 1") > 0
    page.press("Tab", 3)
    assert page.value("document.activeElement.className") == "link"
    name = page.value("document.activeElement.textContent")
    page.press("Enter")
    assert page.value("document.getElementById('turn').open")
    assert page.value("document.getElementById('turn').contains(document.activeElement)")
    assert page.value("document.getElementById('turn-title').textContent") == name
    assert page.value("location.hash").startswith("#turn=t-17")
    page.press("Escape")
    assert not page.value("document.getElementById('turn').open")
    assert page.value("document.activeElement.textContent") == name
    assert page.value(GONE) == ""
    quiet(page, page_file)


def test_the_list_is_filtered_ordered_and_continued(browser: Browser, page_file: Path) -> None:
    page = browser.open(page_file)
    rows = "document.querySelectorAll('#list tbody tr').length"
    assert page.value(rows) == 100
    page.value("document.getElementById('more').click()")
    assert page.value(rows) == 200
    assert page.value("document.activeElement.closest('tr').rowIndex") == 101
    change = "const at = document.getElementById({id}); at.value = {value}; at.dispatchEvent(new Event('change'))"
    page.value(f"{{{change.format(id=json.dumps('outcome'), value=json.dumps('error'))}}}")
    assert set(page.value("[...document.querySelectorAll('#list .mark')].map((one) => one.textContent)")) == {"✗ error"}
    page.value(f"{{{change.format(id=json.dumps('outcome'), value=json.dumps('!'))}}}")
    assert page.value(
        "[...document.querySelectorAll('#list tbody tr')].every((one) => one.textContent.includes('tools differ'))"
    )
    page.value(f"{{{change.format(id=json.dumps('order'), value=json.dumps('latency'))}}}")
    taken = page.value(
        "[...document.querySelectorAll('#list tbody tr')].map((one) => parseFloat(one.cells[3].textContent))"
    )
    assert taken == sorted(taken, reverse=True)
    page.value("document.querySelector('#list button').click()")
    assert page.value("document.querySelectorAll('#turn .diff .minus').length") > 0
    assert page.value("document.querySelectorAll('#turn svg.graph').length") == 2
    assert page.value("document.querySelectorAll('#turn svg.graph rect').length") >= 4


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_the_width_and_takes_the_theme_of_the_system_until_told_otherwise(
    dark: bool, width: int, browser: Browser, page_file: Path, tmp_path: Path
) -> None:
    page = browser.open(page_file, width=width, dark=dark)
    assert page.value("document.documentElement.scrollWidth") <= width
    paper = "getComputedStyle(document.body).backgroundColor"
    light, night = "rgb(255, 255, 255)", "rgb(13, 17, 23)"
    assert page.value(paper) == (night if dark else light)
    backgrounds = []
    for _ in range(3):
        page.value("document.getElementById('theme').focus()")
        page.press("Enter")
        backgrounds.append(page.value(paper))
    assert backgrounds == [light, night, night if dark else light]
    page.value("document.querySelector('#list button').click()")
    assert page.value("document.getElementById('turn').scrollWidth") <= width
    page.picture(tmp_path / "seen.png")
    assert (tmp_path / "seen.png").stat().st_size > 10_000


def test_on_paper_it_is_dark_on_light_whatever_the_theme(browser: Browser, page_file: Path) -> None:
    page = browser.open(page_file, dark=True)
    page.value("document.documentElement.setAttribute('data-theme', 'dark')")
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.send("Emulation.setEmulatedMedia", media="print", features=dark)
    seen = page.value(
        "[document.body, document.querySelector('.card')].map((one) => getComputedStyle(one).backgroundColor)"
    )
    assert seen == ["rgb(255, 255, 255)"] * 2
    assert page.value("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    hidden = "['#theme', '.tools', '.skip'].map((one) => getComputedStyle(document.querySelector(one)).display)"
    assert page.value(hidden) == ["none"] * 3


def test_everything_that_can_be_used_has_a_name_and_every_plot_a_table(browser: Browser, page_file: Path) -> None:
    page = browser.open(page_file)
    page.value("document.querySelector('#list button').click()")
    tree: list[dict[str, Any]] = page.send("Accessibility.getFullAXTree")["nodes"]
    named = {"button", "link", "searchbox", "textbox", "combobox", "dialog", "image", "region", "table"}
    roles: dict[str, list[str]] = {}
    for node in tree:
        role = node.get("role", {}).get("value", "")
        if role in named and not node.get("ignored"):
            roles.setdefault(role, []).append(node.get("name", {}).get("value", ""))
    assert roles["dialog"] == [page.value("document.getElementById('turn-title').textContent")]
    assert {role for role, names in roles.items() if role != "table" and "" in names} == set()
    plots = page.value(
        "[...document.querySelectorAll('section.card')].filter((one) => one.querySelector('svg')).map((one) =>"
        " [one.getAttribute('aria-labelledby'), one.querySelectorAll('table th[scope=row]').length])"
    )
    assert len(plots) >= 5
    assert [name for name, rows in plots if not rows] == []
