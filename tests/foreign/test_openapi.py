"""A real HTTP service on loopback with an OpenAPI document: allowed operations, exact requests, hostile answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from metnos.foreign import Import, import_openapi, store
from metnos.foreign.faults import ImportFault
from metnos.foreign.model import Http
from tests.foreign.conftest import World
from tests.support.hosted import step
from tests.support.service import Service

ALLOWED = [
    "getItem", "listItems", "createItem", "deleteItem", "getFile", "getStatus", "getLarge", "getOdd", "go", "hang", "cut",
    "cutRead", "hangUp", "GET /echo",
]  # fmt: skip
READS = ("getItem", "listItems", "getFile", "getStatus", "getLarge", "getOdd", "go", "hang", "cutRead", "GET /echo")


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.close()


@pytest.fixture(scope="module")
def api(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    home = tmp_path_factory.mktemp("api")
    document = home / "openapi.json"
    document.write_text(json.dumps(service.document()))
    import_openapi(
        home, "api", document, allow=ALLOWED, allow_hosts=["127.0.0.1"], output_bytes=100_000, timeout_s=10,
        effects={**dict.fromkeys(READS, "read"), "createItem": "create", "cut": "create", "hangUp": "create"},
        headers={"Authorization": "Bearer ${API_TOKEN}"},
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("API_TOKEN", "t0ken")
        made = World(home)
        assert made.engine.parts.imports is not None
        yield made
        made.close()


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "t0ken")


def test_only_allowed_operations_are_there(api: World) -> None:
    names = api.engine.catalog.names()
    assert "api.getItem" in names
    assert "api.GET_x0020__x002F_echo" in names
    assert len(names) == len(ALLOWED)
    contract = api.engine.catalog.get("api.getItem")
    assert contract is not None
    assert contract.descriptions["en"] == "One item.\nBy its number."
    assert contract.args["required"] == ["id"]


def test_every_argument_goes_where_the_document_says(api: World, service: Service) -> None:
    service.seen.clear()
    args = {"tags": ["a b", "c&d"], "filter": {"kind": "x=y"}, "limit": 3, "X-Trace": "abc"}
    result = api.run(step("api.listItems", **args), data={"names": "${step1.entries[*].name}"})
    assert result.data == {"names": ["a", "b"]}
    [(method, path, query, headers, body)] = service.seen
    assert (method, path, body) == ("GET", "/items", None)
    assert query == {"tags": ["a b", "c&d"], "filter[kind]": ["x=y"], "limit": ["3"]}
    assert headers["x-trace"] == "abc"
    assert headers["authorization"] == "Bearer t0ken"
    assert headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("name", ["a/../../b", "a?b=c", "a#b", "ü %2e", "x y", "a\\b"])
def test_an_argument_never_becomes_another_segment(api: World, service: Service, name: str) -> None:
    service.seen.clear()
    result = api.run(step("api.getFile", name=name), data={"name": "${step1.name}"})
    assert result.data == {"name": name}
    assert len(service.seen[0][1].split("/")) == 3


@pytest.mark.parametrize(
    "call",
    [
        step("api.getFile", name=".."),
        step("api.getFile", name="."),
        step("api.getFile", name=""),
        step("api.listItems", **{"X-Trace": "a\r\nX-Evil: 1"}),
        step("api.listItems", limit=0),
        step("api.getItem", id="one"),
    ],
)
def test_what_cannot_stand_there_is_not_sent(api: World, service: Service, call: dict[str, Any]) -> None:
    service.seen.clear()
    assert api.error(call) == ("arguments", "value-misfit")
    assert service.seen == []


def test_a_body_is_sent_as_json_and_asked_about(api: World, service: Service) -> None:
    service.seen.clear()
    call = step("api.createItem", body={"id": 7, "name": "seven"})
    assert api.run(call, approve=lambda _: False).outcome == "user_aborted"
    assert service.seen == []
    result = api.run(call, approve=lambda _: True, data={"id": "${step1.id}"})
    assert (result.outcome, result.data) == ("success", {"id": 7})
    assert [(effect.cls, effect.target) for effect in result.effects] == [("create", "openapi:api.createItem")]
    assert api.run(step("api.deleteItem", id=1), approve=lambda _: True).outcome == "policy_denied"
    assert [(seen[0], seen[4]) for seen in service.seen] == [("POST", {"id": 7, "name": "seven"})]


def test_results_are_untrusted(api: World) -> None:
    asked: list[Any] = []
    api.run(
        step("api.getFile", name="x"),
        step("api.createItem", body={"id": 1, "name": "${step1.name}"}),
        approve=lambda command: asked.append(command) or True,
    )
    assert "body comes from untrusted:openapi:api" in asked[0].reason


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, "arguments"), (401, "denied"), (404, "missing"), (409, "conflict"), (418, "operational"),
        (429, "operational"), (500, "operational"), (504, "timeout"),
    ],
)  # fmt: skip
def test_a_status_is_a_class(api: World, status: int, error: str) -> None:
    result = api.run(step("api.getStatus", code=str(status)))
    failure = result.steps[0].error
    assert failure is not None
    assert (failure.cls, failure.code) == (error, "tool-error")
    assert [done.tool for done in result.steps] == ["api.getStatus"]


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("nan", ("data", "not-a-number")), ("duplicate", ("data", "duplicate-key")), ("digits", ("data", "integer-range")),
        ("deep", ("data", "too-deep")), ("type", ("internal", "result-schema")), ("binary", ("data", "foreign-protocol")),
        ("latin", ("data", "foreign-protocol")),
    ],
)  # fmt: skip
def test_hostile_answers_are_typed_failures(api: World, kind: str, error: tuple[str, str]) -> None:
    found = api.error(step("api.getOdd", kind=kind))
    assert found == error


def test_an_oversized_answer_is_cut(api: World) -> None:
    assert api.error(step("api.getLarge")) == ("oversize", "too-large")


def test_half_an_answer_to_an_effect_is_in_doubt(api: World) -> None:
    assert api.error(step("api.cutRead")) == ("unavailable", "foreign-lost")
    assert api.run(step("api.cut"), approve=lambda _: True).outcome == "effect_unknown"


@pytest.mark.parametrize(
    ("tool", "args", "outcome"),
    [
        ("getStatus", {"code": "404"}, "error"), ("getStatus", {"code": "503"}, "error"),
        ("getStatus", {"code": "500"}, "effect_unknown"), ("getStatus", {"code": "502"}, "effect_unknown"),
        ("getLarge", {}, "effect_unknown"), ("getOdd", {"kind": "nan"}, "effect_unknown"),
        ("getOdd", {"kind": "binary"}, "effect_unknown"), ("getOdd", {"kind": "type"}, "effect_unknown"),
        ("go", {"to": "/files/x"}, "error"),
    ],
)  # fmt: skip
def test_what_an_effect_leaves_in_doubt(
    api: World, world: World, home: Path, tool: str, args: dict[str, Any], outcome: str
) -> None:
    held = store.find(api._home, "api")
    tools = tuple(msgspec.structs.replace(each, effect="create") for each in held.tools)
    store.save(home, msgspec.structs.replace(held, tools=tools))
    assert world.run(step(f"api.{tool}", **args), approve=lambda _: True).outcome == outcome


def test_a_hanging_service_ends_in_time(api: World, service: Service, world: World, home: Path) -> None:
    slow = msgspec.structs.replace(store.find(api._home, "api"), timeout_s=0.2)
    store.save(home, slow)
    assert world.error(step("api.hang")) == ("timeout", "step-timeout")
    assert world.run(step("api.hangUp"), approve=lambda _: True).outcome == "effect_unknown"


# --- redirects and addresses ---------------------------------------------------------------------------------------


def test_a_redirect_to_another_origin_gets_no_credentials(api: World, service: Service) -> None:
    other = Service()
    try:
        api.run(step("api.go", to=f"{other.url}/files/x"))
        assert "authorization" not in other.seen[0][3]
        service.seen.clear()
        assert api.run(step("api.go", to="/files/x"), data={"n": "${step1.name}"}).data == {"n": "x"}
        assert service.seen[1][3]["authorization"] == "Bearer t0ken"
    finally:
        other.close()


@pytest.mark.parametrize(
    "host",
    ["localhost", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]"],
)
def test_a_redirect_into_the_network_is_refused(api: World, service: Service, host: str) -> None:
    """Only `127.0.0.1`, spelled so, was allowed."""
    service.seen.clear()
    port = service.url.rpartition(":")[2]
    found = api.error(step("api.go", to=f"http://{host}:{port}/files/x"))
    assert found == ("denied", "address-refused")
    assert [seen[1] for seen in service.seen] == ["/go"]


@pytest.mark.parametrize("to", ["file:///etc/passwd", "unix:/var/run/docker.sock", "ftp://127.0.0.1/x"])
def test_a_redirect_to_another_scheme_is_refused(api: World, to: str) -> None:
    assert api.error(step("api.go", to=to)) == ("denied", "address-refused")


def test_redirects_without_end(api: World) -> None:
    assert api.error(step("api.go", to="loop")) == ("operational", "tool-error")


def test_a_host_that_was_not_allowed_is_refused(api: World, world: World, home: Path, service: Service) -> None:
    held = store.find(api._home, "api")
    store.save(home, msgspec.structs.replace(held, reach=msgspec.structs.replace(held.reach, allow_hosts=())))
    service.seen.clear()
    error = world.run(step("api.getItem", id=1)).steps[0].error
    assert error is not None
    assert (error.cls, error.code, error.where) == ("denied", "address-refused", "127.0.0.1")
    assert "--allow-host 127.0.0.1" in error.hint
    assert service.seen == []


@pytest.mark.parametrize("host", ["１２７.0.0.1", "127.1", "2130706433", "localhost"])
def test_a_base_in_another_spelling_is_refused(
    api: World, world: World, home: Path, service: Service, host: str
) -> None:
    held = store.find(api._home, "api")
    reach = Http(url=service.url.replace("127.0.0.1", host))
    store.save(home, msgspec.structs.replace(held, reach=reach))
    service.seen.clear()
    assert world.error(step("api.getItem", id=1)) == ("denied", "address-refused")
    assert service.seen == []


def test_a_service_that_is_not_there(api: World, world: World, home: Path) -> None:
    held = store.find(api._home, "api")
    reach = msgspec.structs.replace(held.reach, url="http://127.0.0.1:1")
    store.save(home, msgspec.structs.replace(held, reach=reach))
    assert world.error(step("api.getItem", id=1)) == ("unavailable", "foreign-unreachable")


# --- importing -----------------------------------------------------------------------------------------------------


def test_what_cannot_be_sent_exactly_stays_out(home: Path, service: Service, tmp_path: Path) -> None:
    document = tmp_path / "openapi.json"
    document.write_text(json.dumps(service.document()))
    found = import_openapi(home, "api", document, allow=["useCookie", "sendXml", "brokenPath", "getItem"])
    assert [tool.name for tool in found.tools] == ["getItem"]
    assert {left.name for left in found.left_out} == {"useCookie", "sendXml", "brokenPath"}
    assert isinstance(found, Import)
    assert found.tools[0].effect == "execute"


def test_a_document_by_url_obeys_the_same_rule(home: Path, service: Service) -> None:
    url = f"{service.url}/openapi.json"
    with pytest.raises(ImportFault) as raised:
        import_openapi(home, "api", url, allow=["getItem"])
    assert raised.value.code == "address-refused"
    found = import_openapi(home, "api", url, allow=["getItem"], allow_hosts=["127.0.0.1"])
    assert [tool.name for tool in found.tools] == ["getItem"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("openapi: 3.0.0", "YAML"),
        ("{}", "version 2"),
        ('{"swagger": "2.0"}', "version 2"),
        ('{"openapi": "3.1.0", "paths": {}}', "there are"),
        ('{"openapi": "3.1.0", "paths": {"/a": {"get": {"operationId": "a", "responses": {}}}}}', "--url"),
        ('{"openapi": "3.1.0", "openapi": "3.1.0"}', "YAML"),
    ],
)
def test_documents_that_are_none(home: Path, tmp_path: Path, text: str, words: str) -> None:
    document = tmp_path / "openapi.json"
    document.write_text(text)
    with pytest.raises(ImportFault) as raised:
        import_openapi(home, "api", document, allow=["a"])
    assert raised.value.code == "import-fault"
    assert words in raised.value.hint
    with pytest.raises(ImportFault):
        import_openapi(home, "api", tmp_path / "none.json", allow=["a"])
    assert not home.exists()
