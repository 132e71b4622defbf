"""Any server that speaks OpenAI's protocol for chats (llama-server, vLLM, Ollama, OpenAI), streamed, through its SDK.

Law: the configuration alone says where a call goes: no proxy, address, organisation or header of the environment is
used, no redirect is followed, and the key goes into one header and into no message. The stream is read by a thread
with a loop of its own, so that a deadline, a cancellation or a hang ends the request itself, not only the wait for it.
What a server refuses of a request is left out of it, and not sent to it again. Retries nothing else.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from concurrent.futures import CancelledError
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from metnos.propose.models.answering import fault_of, missing_key, unreadable
from metnos.propose.models.ports import Completion, ModelFault, Stop
from metnos.propose.models.reading import Reading
from metnos.propose.models.watchdog import Watch, finish

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metnos.propose.models.config import ModelConfig
    from metnos.propose.models.ports import Message

CONNECT_S: Final = 10.0
MOST_BYTES: Final = 32 * 1024 * 1024
"""Of one reply, whatever is in it."""
SENT: Final = frozenset({"host", "content-type", "content-length", "accept", "connection", "user-agent"})
"""Headers that leave; the SDK would add some, also from the environment."""
FORMS: Final = ("strict", "schema", "object", "text")
"""How a schema is asked for, the most binding first; the last two tell it in words, too."""
RENAMED: Final = {"max_tokens": "max_completion_tokens"}
MAY_GO: Final = ("temperature", "stream_options", "max_tokens")
"""Fields that a server may refuse: left out, or sent under their other name."""
_CALL: ContextVar[tuple[str, Watch]] = ContextVar("call")
"""Of the call that a request belongs to: its key, its watch."""


class OpenAIModel:
    """A `ChatModel`. Safe between threads: calls run side by side."""

    def __init__(self, config: ModelConfig, *, secret: Callable[[str], str | None]) -> None:
        """Connects to nothing.

        Raises:
            ModuleNotFoundError: The SDK is not installed.
        """
        self._config = config
        self._secret = secret
        self._lock = threading.Lock()
        self._reader: _Reader | None = None
        self._left_out: set[str] = set()
        self._forms: dict[str, int] = {}
        """Schema → the form that this server took it in."""

    @property
    def name(self) -> str:
        """As the configuration calls it."""
        return self._config.name

    def complete(
        self, messages: Sequence[Message], *, most_tokens: int, stop: Stop, schema: dict[str, Any] | None = None
    ) -> Completion:
        """Answer the last message, at temperature 0.

        Raises:
            ModelFault: It gave no answer.
        """
        stop = stop.within(deadline_s=self._config.deadline_s, idle_s=self._config.idle_s)
        stop.look()
        reading = Reading(sum(len(one.content) for one in messages), self._config, Watch(stop.idle_s))
        started = time.monotonic()
        try:
            self._call(messages, most_tokens, schema, self._key(), stop, reading)
            return reading.completion(time.monotonic() - started)
        except ModelFault as fault:
            cost = reading.usage(time.monotonic() - started)
            raise ModelFault(fault.code, fault.message, fault.hint, cost) from None

    def _call(
        self,
        messages: Sequence[Message],
        most_tokens: int,
        schema: dict[str, Any] | None,
        key: str,
        stop: Stop,
        reading: Reading,
    ) -> None:
        """Ask, and ask again without what the server refused, until nothing is left to leave out."""
        written = "" if schema is None else json.dumps(schema, sort_keys=True)
        form = self._forms.get(written, 0)
        while True:
            body = self._body(messages, most_tokens, schema, form)
            told = self._ask(body, key, stop, reading)
            if told is None:
                if schema is not None:
                    self._forms[written] = form
                return
            field = _named(told, body)
            if field in MAY_GO:
                self._left_out.add(field)
            elif schema is not None and form + 1 < len(FORMS):
                form += 1
            else:
                raise told

    def _ask(self, body: dict[str, Any], key: str, stop: Stop, reading: Reading) -> _Refused | None:
        reader = self._open_reader()
        try:
            reader.run(body, key, stop, reading)
        except _Refused as refused:
            return refused
        return None

    def _body(
        self, messages: Sequence[Message], most_tokens: int, schema: dict[str, Any] | None, form: int
    ) -> dict[str, Any]:
        said = [{"role": one.role, "content": one.content} for one in messages]
        body: dict[str, Any] = {
            "model": self._config.model,
            "messages": said,
            "temperature": 0,
            "max_tokens": most_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
            **self._config.options,
        }
        if schema is not None:
            body |= _form(FORMS[form], schema)
            if FORMS[form] in ("object", "text"):
                said[-1]["content"] += (
                    f"\n\nAnswer with one JSON value of this schema, and nothing else:\n{json.dumps(schema)}"
                )
        for field in self._left_out & body.keys():
            value = body.pop(field)
            if field in RENAMED:
                body[RENAMED[field]] = value
        return body

    def _key(self) -> str:
        if not self._config.key_env:
            return ""
        key = (self._secret(self._config.key_env) or "").strip()
        if not key or not key.isascii() or not key.isprintable() or " " in key:
            raise missing_key(self._config.key_env, there=bool(key))
        return key

    def _open_reader(self) -> _Reader:
        with self._lock:
            if self._reader is None or not self._reader.alive:
                self._reader = _Reader(self._config)
            return self._reader

    def close(self) -> None:
        """End what is being read, and every connection; safe to repeat."""
        with self._lock:
            reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()


class _Refused(ModelFault):
    """The server did not like the form of the request; `field` is what it named."""

    def __init__(self, fault: ModelFault, said: str, field: str) -> None:
        super().__init__(fault.code, fault.message, fault.hint)
        self.said = said
        self.field = field


def _is_about_form(status: int, told: ModelFault, said: str) -> bool:
    """Whether the server may take the request in another form; some fail (500) where they should refuse."""
    if status in (400, 422):
        return told.code == "model-refused"
    return status in (500, 501) and any(field in said for field in ("response_format", "json_schema", *MAY_GO))


def _named(refused: _Refused, body: dict[str, Any]) -> str:
    """The field of `body` that it is about, as far as can be told."""
    if refused.field:
        return refused.field
    return next((field for field in MAY_GO if field in body and field in refused.said), "")


def _form(form: str, schema: dict[str, Any]) -> dict[str, Any]:
    match form:
        case "strict" | "schema":
            named = {"name": "answer", "schema": schema, "strict": form == "strict"}
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        case "object":
            return {"response_format": {"type": "json_object"}}
        case _:
            return {}


class _Reader:
    """A thread with a loop, and the SDK's client on it. Of the process that made it."""

    def __init__(self, config: ModelConfig) -> None:
        self._config = config
        self._process = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._client: Any = None
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"model {config.name}", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether its thread is of this process: a fork has none."""
        return self._process == os.getpid()

    def run(self, body: dict[str, Any], key: str, stop: Stop, reading: Reading) -> None:
        """One request, to its end."""
        ended = threading.Event()

        async def work() -> None:
            try:
                _CALL.set((key, reading.watch))
                await self._read(body, key, reading)
            finally:
                ended.set()

        future = asyncio.run_coroutine_threadsafe(work(), self._loop)
        try:
            finish(future, stop, reading.watch, ended.wait)
        except CancelledError:  # by `close`, from another thread
            raise ModelFault("model-cancelled", "the model was closed meanwhile") from None

    async def _read(self, body: dict[str, Any], key: str, reading: Reading) -> None:
        import openai

        reading.begin()
        try:
            if self._client is None:
                self._client = _client(self._config)
            stream = await self._client.chat.completions.create(
                model=body["model"], messages=body["messages"], stream=True, extra_body=body
            )
            reading.opened()
            async with stream:
                async for chunk in stream:
                    reading.take(chunk)
            reading.end()
        except openai.APIStatusError as fault:
            told, said, field = fault_of(fault.status_code, fault.body, dict(fault.response.headers), key)
            if _is_about_form(fault.status_code, told, said):
                raise _Refused(told, said, field) from None
            raise told from None
        except openai.APIConnectionError as fault:
            why = type(fault.__cause__ or fault).__name__
            what = f"{self._config.url} cannot be reached" if not reading.tokens else "the connection was lost"
            raise ModelFault("model-unreachable", f"{what} ({why})", "start the server, or mend its url") from None
        except openai.APIError as fault:
            told, _, _ = fault_of(500, {"message": fault.message}, {}, key)
            raise told from None
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as fault:
            raise unreadable(type(fault).__name__) from None

    def close(self) -> None:
        """Cancel what runs, close the client, end the thread."""
        if not self.alive:
            return

        async def wind_up() -> None:
            others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            if self._client is not None:
                await self._client.close()
            await self._loop.shutdown_asyncgens()  # of answers that were cut off

        asyncio.run_coroutine_threadsafe(wind_up(), self._loop).result(timeout=10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()


def _client(config: ModelConfig) -> Any:
    """The SDK's client, of which nothing but what is ours leaves."""
    import httpx2
    import openai

    from metnos.propose.models.bounded import BoundedTransport

    async def only_ours(request: Any) -> None:
        for name in {name.lower() for name in request.headers} - SENT:
            del request.headers[name]
        request.headers["accept-encoding"] = "identity"
        key, watch = _CALL.get()
        if key:
            request.headers["authorization"] = f"Bearer {key}"
        watch.begin()

    http = httpx2.AsyncClient(
        transport=BoundedTransport(MOST_BYTES),
        trust_env=False,
        follow_redirects=False,
        timeout=httpx2.Timeout(None, connect=CONNECT_S),
        event_hooks={"request": [only_ours]},
    )
    return openai.AsyncOpenAI(
        api_key="none", organization="", project="", base_url=config.url, max_retries=0, http_client=http
    )
