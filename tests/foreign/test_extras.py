"""Without the extras: named, with the line that installs them; and nothing is loaded before it is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from metnos.foreign import Import, import_mcp, import_openapi, store
from metnos.foreign.faults import ImportFault
from metnos.foreign.model import Http, Operation, Tool
from metnos.foreign.pins import pin_of
from tests.foreign.conftest import World
from tests.support.hosted import step


@pytest.fixture
def service(real: Import) -> Import:
    schema = {"type": "object", "properties": {}}
    tool = Tool(
        name="get", digest=pin_of("get", "", schema, None), input_schema=schema, effect="read",
        operation=Operation(method="GET", path="/"),
    )  # fmt: skip
    return msgspec.structs.replace(
        real, kind="openapi", name="api", reach=Http(url="http://127.0.0.1:1"), tools=(tool,)
    )


def test_a_missing_package_is_named_with_its_extra(
    world: World, home: Path, real: Import, service: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("mcp", "httpx2", "httpcore2"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("network", "http_client", "stdio"):
        monkeypatch.delitem(sys.modules, f"metnos.foreign.{name}", raising=False)
    with pytest.raises(ImportFault) as raised:
        import_mcp(home, "t", command=["true"])
    assert (raised.value.code, raised.value.hint) == ("extra-missing", "pip install 'metnos[mcp]'")
    with pytest.raises(ImportFault) as raised:
        import_openapi(home, "t", "http://127.0.0.1:1/openapi.json", allow=["a"])
    assert (raised.value.code, raised.value.hint) == ("extra-missing", "pip install 'metnos[http]'")
    store.save(home, real)
    store.save(home, service)
    assert world.error(step("t.add", a=1, b=2)) == ("unavailable", "extra-missing")
    assert world.error(step("api.get")) == ("unavailable", "extra-missing")


def test_a_catalog_with_imports_loads_neither_package(home: Path, real: Import) -> None:
    store.save(home, real)
    code = (
        "import sys; from metnos import Engine\n"
        f"with Engine.open({str(home)!r}, shipped=False, imports=True) as engine: assert 't.add' in engine.catalog.names()\n"
        "print(sorted({'mcp', 'httpx2', 'asyncio', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_no_import_no_cost(home: Path) -> None:
    code = (
        "import sys; from metnos import Engine\n"
        f"with Engine.open({str(home)!r}, shipped=False, imports=True) as engine: engine.catalog.names()\n"
        "print(sorted(name for name in sys.modules if name.startswith('metnos.foreign')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
