"""A chat with a real server, in a process of its own, that fails in every way; and what leaves for it."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from metnos.propose.models.config import ModelConfig, Price
from metnos.propose.models.openai import OpenAIModel
from metnos.propose.models.ports import Message, ModelFault, Stop
from metnos.testing.modelserver import ModelReply, ModelServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEY = "sk-verysecret-0123456789"
ASKED = [Message("system", "be brief"), Message("user", "say three words")]
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.fixture(scope="module")
def _one() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def server(_one: ModelServer) -> ModelServer:
    return _one.begin_anew()


@pytest.fixture
def model(server: ModelServer) -> Iterator[Callable[..., OpenAIModel]]:
    made: list[OpenAIModel] = []

    def make(secret: str | None = None, **more: Any) -> OpenAIModel:
        given = {"url": server.url, "model": "stand-in", **more}
        config = ModelConfig(name="m", adapter="openai", **given)
        made.append(OpenAIModel(config, secret={"MY_KEY": secret}.get))
        return made[-1]

    yield make
    for one in made:
        one.close()
        one.close()


def ask(model: OpenAIModel, *, stop: Stop | None = None, most: int = 50, schema: Any = None) -> Any:
    return model.complete(ASKED, most_tokens=most, stop=stop or Stop(), schema=schema)


def fault(model: OpenAIModel, **more: Any) -> ModelFault:
    with pytest.raises(ModelFault) as caught:
        ask(model, **more)
    return caught.value


# --- what goes well ---------------------------------------------------------------------------------------------------


def test_an_answer_with_its_usage_and_cost(server: ModelServer, model: Callable[..., OpenAIModel]) -> None:
    server.enqueue(ModelReply("one two three", cached=2))
    price = Price(input=1e6, cached=5e5, output=1e6)
    said = ask(model(price=price, options={"seed": 7}))
    assert (said.text, said.model, said.finish) == ("one two three", "stand-in-1", "stop")
    usage = said.usage
    assert (usage.calls, usage.tokens_in, usage.tokens_cached, usage.tokens_out) == (1, 5, 2, 3)
    assert usage.cost == pytest.approx(3 + 1 + 3)
    assert usage.seconds > 0
    [seen] = server.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.body == {
        "model": "stand-in",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "say three words"}],
        "temperature": 0,
        "max_tokens": 50,
        "stream": True,
        "stream_options": {"include_usage": True},
        "seed": 7,
    }


def test_an_answer_that_is_cut_off_says_so(server: ModelServer, model: Callable[..., OpenAIModel]) -> None:
    server.enqueue("one two three")
    said = ask(model(), most=2)
    assert (said.text, said.finish) == ("one two", "length")


def test_without_usage_it_is_estimated(server: ModelServer, model: Callable[..., OpenAIModel]) -> None:
    server.enqueue(ModelReply("one two three", usage=False))
    usage = ask(model()).usage
    assert (usage.tokens_in, usage.tokens_out) == (6, 3)


def test_nothing_of_the_environment_leaves(
    server: ModelServer, model: Callable[..., OpenAIModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "leaked")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Leaked: leaked")
    server.enqueue("fine")
    assert ask(model()).text == "fine"
    headers = server.seen[0].headers
    assert "leaked" not in str(headers)
    assert not {name for name in headers if name.startswith(("x-", "openai", "authorization"))}


def test_a_connection_that_a_server_may_have_closed_is_not_used_again(
    server: ModelServer, model: Callable[..., OpenAIModel]
) -> None:
    server.enqueue("one", "two")
    one = model()
    assert [ask(one).text, ask(one).text] == ["one", "two"]
    assert len({each.port for each in server.seen}) == 2


def test_calls_run_side_by_side(server: ModelServer, model: Callable[..., OpenAIModel]) -> None:
    server.enqueue(*[ModelReply("x", first_s=2.5)] * 6)
    one = model()
    with ThreadPoolExecutor(6) as pool:
        futures = [pool.submit(ask, one) for _ in range(6)]
        while len(server.seen) < 6:  # all of them were there before the first was answered
            assert not any(each.done() for each in futures)
            time.sleep(0.01)
        assert {each.result().text for each in futures} == {"x"}


# --- the key ----------------------------------------------------------------------------------------------------------


def test_the_key_goes_into_one_header(server: ModelServer, model: Callable[..., OpenAIModel]) -> None:
    server.begin_anew("fine", key=KEY)
    assert ask(model(KEY + "\n", key_env="MY_KEY")).text == "fine"
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("said", "status"),
    [(f"no such thing: {KEY}", 404), (f"bad request for {KEY[:12]}… or …{KEY[-8:]}", 400), (KEY, 401), (KEY, 500)],
)
def test_no_message_has_the_key(server: ModelServer, model: Callable[..., OpenAIModel], said: str, status: int) -> None:
    server.enqueue(ModelReply(said, status=status))
    found = fault(model(KEY, key_env="MY_KEY"))
    told = f"{found} {found.message} {found.hint} {found.__cause__!r}"
    assert not any(KEY[at : at + 8] in told for at in range(len(KEY) - 7)), told
    assert str(status) in found.message


@pytest.mark.parametrize("secret", [None, "", "  ", "a b", "ké", "a\nb"])
def test_a_key_that_is_none_is_sent_nowhere(
    server: ModelServer, model: Callable[..., OpenAIModel], secret: str | None
) -> None:
    found = fault(model(secret, key_env="MY_KEY"))
    assert (found.code, "MY_KEY" in found.message) == ("model-refused", True)
    assert server.seen == []


# --- a schema, and what a server refuses ------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 422, 500])
@pytest.mark.parametrize(
    ("drops", "kinds"),
    [
        ((), ["json_schema"]),
        (("json_schema",), ["json_schema", "json_schema", "json_object"]),
        (("json_schema", "json_object"), ["json_schema", "json_schema", "json_object", None]),
    ],
)
def test_a_schema_is_asked_for_as_the_server_takes_it(
    server: ModelServer, model: Callable[..., OpenAIModel], drops: tuple[str, ...], kinds: list[str | None], status: int
) -> None:
    server.begin_anew('{"a":"b"}', '{"a":"c"}', drops_schema=drops, refusing=status)
    one = model()
    assert ask(one, schema=SCHEMA).text == '{"a":"b"}'
    assert ask(one, schema=SCHEMA).text == '{"a":"c"}'
    sent = [each.body for each in server.seen]
    assert [body.get("response_format", {}).get("type") for body in sent] == [*kinds, kinds[-1]]  # learned
    last = sent[-1]["messages"][-1]["content"]
    assert (json.dumps(SCHEMA) in last) is bool(drops)
    assert json.dumps(SCHEMA) not in sent[0]["messages"][-1]["content"]


def test_what_a_server_refuses_is_left_out_and_not_sent_again(
    server: ModelServer, model: Callable[..., OpenAIModel]
) -> None:
    server.begin_anew("one two", "three", refuses=("temperature", "max_tokens", "stream_options"))
    one = model()
    said = ask(one, most=1)
    assert (said.text, said.finish, said.usage.calls) == ("one", "length", 4)
    assert ask(one).usage.calls == 1
    assert server.seen[-1].body.keys() == {"model", "messages", "stream", "max_completion_tokens"}


# --- faults -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "code", "said"),
    [
        (ModelReply("slow down", status=429, retry_after="7"), "model-limited", "wait 7 s"),
        (ModelReply("insufficient_quota: pay", status=429), "model-refused", "pay"),
        (ModelReply("boom", status=500), "model-unreachable", "500: boom"),
        (ModelReply("busy", status=503), "model-unreachable", "503"),
        (ModelReply("who", status=401), "model-refused", "401"),
        (ModelReply("no such model", status=404), "model-refused", "no such model"),
        (ModelReply("odd option", status=400), "model-refused", "odd option"),
        (ModelReply("this exceeds the maximum context length", status=400), "model-context", "context"),
        (ModelReply("large", status=413), "model-context", "large"),
        (ModelReply("go there", status=307), "model-refused", "307"),
        (ModelReply(status=500, garbage="<html>\x1b[31mbad gateway</html>"), "model-unreachable", "bad gateway"),
        (ModelReply("x", cut_after=0), "model-unreachable", "cannot be reached"),
        (ModelReply("one two three", cut_after=2), "model-unreachable", "lost"),
        (ModelReply("one", finish=""), "model-reply", "without an end"),
        (ModelReply("one", finish="content_filter"), "model-refused", "held the answer back"),
        (ModelReply(garbage="data: {not json\n\n"), "model-reply", "cannot be read"),
        (ModelReply(garbage="data: 3\n\ndata: [DONE]\n\n"), "model-reply", "cannot be read"),
        (ModelReply(garbage='data: {"choices": [{"index": 0, "delta": {"content": 7}}]}\n\n'), "model-reply", "read"),
        (ModelReply(garbage='data: {"choices": [], "usage": {"prompt_tokens": "x"}}\n\n'), "model-reply", "read"),
        (ModelReply(garbage="<html>a page</html>"), "model-reply", "without an end"),
        (ModelReply(garbage='data: {"error": {"message": "gpu is gone"}}\n\n'), "model-unreachable", "gpu is gone"),
        (ModelReply("x", encoding="gzip"), "model-unreachable", "DecodingError"),
    ],
)
def test_a_fault_has_its_code(
    server: ModelServer, model: Callable[..., OpenAIModel], reply: ModelReply, code: str, said: str
) -> None:
    server.enqueue(reply)
    found = fault(model())
    assert found.code == code, found.message
    assert said in found.message
    assert found.message.isprintable()
    assert found.usage.calls == 1


def test_what_a_lost_answer_cost_is_told(server: ModelServer, model: Callable[..., OpenAIModel]) -> None:
    server.enqueue(ModelReply("one two three", cut_after=2))
    usage = fault(model(price=Price(output=1e6))).usage
    assert (usage.tokens_in, usage.tokens_out, usage.cost) == (6, 2, 2.0)


def test_a_reply_without_an_end_is_ended(
    server: ModelServer, model: Callable[..., OpenAIModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metnos.propose.models.openai.MOST_BYTES", 10_000)
    server.enqueue(ModelReply("x " * 2_000))
    found = fault(model(), most=5_000)
    assert (found.code, "DecodingError" in found.message) == ("model-unreachable", True)


def test_nobody_listens(model: Callable[..., OpenAIModel]) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # and does not listen
        found = fault(model(url=f"http://127.0.0.1:{held.getsockname()[1]}/v1"))
    assert (found.code, found.usage.tokens_in, found.usage.cost) == ("model-unreachable", 0, 0.0)


def test_a_server_that_dies_in_mid_answer(model: Callable[..., OpenAIModel]) -> None:
    with ModelServer(ModelReply("one two three", stall_after=1)) as server:
        one = model(url=server.url)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(fault, one)
            while not server.seen:
                time.sleep(0.01)
            server.kill()
            assert waiting.result().code == "model-unreachable"


# --- time -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [0, 2])
def test_a_hang_is_given_up_and_ended(server: ModelServer, model: Callable[..., OpenAIModel], after: int) -> None:
    server.enqueue(ModelReply("one two three", stall_after=after), "fine")
    one = model(idle_s=0.2)
    found = fault(one)
    assert (found.code, found.retryable) == ("model-stalled", True)
    assert f"after {after}" in found.message
    assert found.usage.tokens_out == after
    assert server.wait_until("gone")  # the request itself has ended
    assert ask(one).text == "fine"


def test_a_stall_is_waited_for(server: ModelServer, model: Callable[..., OpenAIModel]) -> None:
    server.enqueue(ModelReply("one two three four", token_s=0.3))
    assert ask(model(idle_s=2)).text == "one two three four"  # longer in all than any pause may be


@pytest.mark.parametrize("code", ["model-slow", "model-deadline"])
def test_the_deadline_of_the_call_and_that_of_the_model(
    server: ModelServer, model: Callable[..., OpenAIModel], code: str
) -> None:
    """Longer and longer ones, until one is met while the server answers: the first may pass while the SDK is loaded."""
    server.enqueue(*[ModelReply("one two three", stall_after=2)] * 7)
    for doubled in range(7):
        seconds = 0.2 * 2**doubled
        own, stop = (seconds, Stop()) if code == "model-slow" else (None, Stop(deadline_s=seconds))
        assert fault(model(deadline_s=own), stop=stop).code == code
        if server.seen:
            break
    assert server.wait_until("gone")


def test_another_thread_cancels(server: ModelServer, model: Callable[..., OpenAIModel]) -> None:
    server.enqueue(ModelReply("x", stall_after=0))
    stop = Stop()
    canceller = threading.Thread(target=lambda: server.wait_until("open") and stop.cancel())
    canceller.start()
    found = fault(model(), stop=stop)
    canceller.join()
    assert (found.code, found.retryable) == ("model-cancelled", False)
    assert server.wait_until("gone")


def test_closing_it_ends_a_call(server: ModelServer, model: Callable[..., OpenAIModel]) -> None:
    server.enqueue(ModelReply("x", stall_after=0), "fine")
    one = model()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(fault, one)
        while not server.seen:
            time.sleep(0.01)
        one.close()
        assert waiting.result().code == "model-cancelled"
    assert ask(one).text == "fine"  # it opens anew


def test_a_call_that_is_over_is_not_made(server: ModelServer, model: Callable[..., OpenAIModel]) -> None:
    stop = Stop()
    stop.cancel()
    assert fault(model(), stop=stop).usage.calls == 0
    assert server.seen == []


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_of_a_fork_has_a_reader_of_its_own(server: ModelServer, model: Callable[..., OpenAIModel]) -> None:
    server.enqueue("mine", "its")
    one = model()
    assert ask(one).text == "mine"
    child = os.fork()
    if not child:
        os._exit(0 if ask(one).text == "its" else 1)
    assert os.waitpid(child, 0)[1] == 0
