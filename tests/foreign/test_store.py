"""Imports on disk: what does not hold is refused by name, and nothing else suffers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from metnos import Engine
from metnos.foreign import Import, store
from metnos.foreign.faults import ImportFault


def _edit(path: Path, **fields: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **fields}))


DAMAGE: dict[str, Any] = {
    "format": lambda path: _edit(path, format=2),
    "name": lambda path: _edit(path, name="other"),
    "unknown field": lambda path: _edit(path, extra=1),
    "duplicate key": lambda path: path.write_text(path.read_text().replace('"kind"', '"kind": "mcp", "kind"', 1)),
    "no JSON": lambda path: path.write_bytes(b"\xff"),
    "description": lambda path: path.write_text(path.read_text().replace("Adds two numbers.", "Adds three numbers.")),
    "writable": lambda path: path.chmod(0o666),
    "folder": lambda path: (path.unlink(), path.mkdir()),
    "link": lambda path: (path.rename(path.with_suffix(".was")), path.symlink_to(path.with_suffix(".was"))),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_import_is_refused_and_the_others_load(home: Path, real: Import, damage: str) -> None:
    path = store.save(home, real)
    store.save(home, msgspec.structs.replace(real, name="good"))
    DAMAGE[damage](path)
    with Engine.open(home, shipped=False, imports=True, memory=True) as engine:
        assert {name.partition(".")[0] for name in engine.catalog.names()} == {"good"}
        assert [(refused.name, refused.diagnostic.code) for refused in engine.catalog.refused] == [
            ("t", "import-broken")
        ]
    with pytest.raises(ImportFault, match=r".") as raised:
        store.find(home, "t")
    assert raised.value.code == "import-broken"


def test_imports_are_replaced_whole_and_forgotten(home: Path, real: Import) -> None:
    store.save(home, real)
    store.save(home, msgspec.structs.replace(real, tools=real.tools[:1]))
    assert [path.name for path in (home / "foreign").iterdir()] == ["t.json"]
    assert len(store.find(home, "t").tools) == 1
    store.remove(home, "t")
    for act in (store.remove, store.find):
        with pytest.raises(ImportFault) as raised:
            act(home, "t")
        assert raised.value.code == "import-unknown"
    assert list(store.load(home)) == []
    assert list(store.load(home / "none")) == []


def test_an_engine_without_the_catalog_has_imports_only_if_asked(home: Path, real: Import) -> None:
    store.save(home, real)
    with Engine.open(home, shipped=False, memory=True) as engine:
        assert engine.catalog.names() == ()
