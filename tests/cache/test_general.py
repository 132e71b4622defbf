"""Generalising: with its own slots the plan comes back as it was; with others it is the right plan, or a refusal."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from metnos.cache.general import bind_general, generalise
from metnos.cache.template import Refusal
from metnos.cache.templates import TemplateLibrary
from metnos.cache.uses import General
from metnos.contracts.catalog import Catalog
from metnos.plan.jsondata import canonical
from metnos.request.understand import understand
from tests.cache.generated import requests_by_form

IDS = sorted(path.stem for path in (Path(__file__).parents[2] / "catalog" / "plans").glob("*.toml"))


def general_of(text: str, *steps: dict[str, Any], catalog: Catalog) -> General:
    found = generalise(understand(text, "en"), {"steps": list(steps)}, catalog)
    assert isinstance(found, General), found
    return found


def bound(general: General, text: str) -> dict[str, Any] | str:
    found = bind_general(general, understand(text, "en").slots)
    return found.detail if isinstance(found, Refusal) else found.plan


# --- every shipped template ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", IDS)
def test_a_template_learned_from_one_request_gives_no_other_plan_to_the_next(
    name: str, library: TemplateLibrary, catalog: Catalog
) -> None:
    template = next(template for template in library.templates if template.id == name)
    counted: Counter[str] = Counter()
    for language in ("en", "it"):
        for pairs in requests_by_form(library, template, language, ways=2, values=8):
            for request, plan in pairs:
                general = generalise(request, plan, catalog)
                assert isinstance(general, General), (request.text, general)
                for other, expected in pairs:
                    found = bind_general(general, other.slots)
                    if isinstance(found, Refusal):
                        assert other is not request, (request.text, found)
                        counted["refused"] += 1
                        continue
                    assert canonical(found.plan) == canonical(expected), (request.text, other.text)
                    counted["equal" if other.text != request.text else "own"] += 1
    if name != "time-now":
        assert counted["equal"] > 0, counted
