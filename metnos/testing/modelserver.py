"""A server that speaks as much of OpenAI's protocol as a chat needs, and fails as it is told to: a process of its own.

    with ModelServer("first answer", ModelReply("second", stall_after=1)) as server:
        config = ModelConfig(name="m", adapter="openai", url=server.url, model="stand-in")
        ...
    server.seen[0].body["messages"]

Law: it thinks nothing. One reply for each request, in order; a request beyond the last is answered 500. Bound to
loopback, any free port; it ends with its `close`, or with the process that started it. Standard library only.
"""

from __future__ import annotations

import json
import select
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

if TYPE_CHECKING:
    from typing import Self

MODULE: Final = "metnos.testing.modelserver"
_TICK_S: Final = 0.01
_LONG_S: Final = 600.0


class ModelReply(msgspec.Struct, frozen=True):
    """What one request is answered with. Tokens are words."""

    text: str = ""
    status: int = 200
    """Other than 200: `text` is the message of the error."""
    param: str = ""
    """Of an error: the field that it is about."""
    first_s: float = 0.0
    """Seconds before the first token."""
    token_s: float = 0.0
    """Seconds before each further one."""
    stall_after: int | None = None
    """Says nothing more after so many tokens, and keeps the connection; 0: not even that it heard."""
    cut_after: int | None = None
    """Cuts the connection after so many tokens."""
    garbage: str = ""
    """Sent in place of an answer, as it is."""
    finish: str = "stop"
    """Empty: it ends without saying why."""
    usage: bool = True
    cached: int = 0
    retry_after: str = ""
    encoding: str = ""
    """Of its content, as its headers say."""


class Asked(msgspec.Struct, frozen=True):
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: Any
    port: int
    """Of the client: another one for each connection."""
    ended: str
    """`whole`, `gone` (the client went away meanwhile), `cut`, or `open`: it is still being answered."""


class ModelServer:
    """Start it; it is there when this returns.

    Args:
        replies: As for `enqueue`.
        key: What has to come as bearer token; empty: anything, or nothing.
        refuses: Fields of a request that are answered with 400.
        drops_schema: Kinds of `response_format` that are answered with 400, `json_schema` say.
        refusing: Another status in place of 400; some servers fail where they should refuse.
    """

    def __init__(
        self,
        *replies: str | ModelReply,
        key: str = "",
        refuses: tuple[str, ...] = (),
        drops_schema: tuple[str, ...] = (),
        refusing: int = 400,
    ) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", MODULE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}/v1"
        """Base of the service."""
        self.begin_anew(*replies, key=key, refuses=refuses, drops_schema=drops_schema, refusing=refusing)

    def begin_anew(
        self,
        *replies: str | ModelReply,
        key: str = "",
        refuses: tuple[str, ...] = (),
        drops_schema: tuple[str, ...] = (),
        refusing: int = 400,
    ) -> Self:
        """Forget what was said and seen, and go on as if started with these; returns itself."""
        self._tell("/_rules", {"key": key, "refuses": refuses, "drops": drops_schema, "status": refusing})
        return self.enqueue(*replies)

    def enqueue(self, *replies: str | ModelReply) -> Self:
        """Answer the next requests with these; returns itself."""
        self._tell("/_replies", [ModelReply(one) if isinstance(one, str) else one for one in replies])
        return self

    @property
    def seen(self) -> list[Asked]:
        """Every request so far; while the server runs."""
        return msgspec.convert(self._tell("/_seen", None), list[Asked])

    def wait_until(self, ended: str, number: int = 0, seconds: float = 10.0) -> bool:
        """Whether the request of this number comes to `ended` in time."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            seen = self.seen
            if len(seen) > number and seen[number].ended == ended:
                return True
            time.sleep(_TICK_S)
        return False

    def kill(self) -> None:
        """End it as if its machine had gone."""
        self._process.kill()
        self.close()

    def close(self) -> None:
        """End it; safe to repeat."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _tell(self, path: str, value: Any) -> Any:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("POST", path, msgspec.json.encode(value), {"Content-Type": "application/json"})
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()


# ------------------------------------------------------------------------------------------- the process itself


class _Gone(Exception):
    """The client went away."""


class _State(NamedTuple):
    replies: deque[ModelReply]
    seen: list[dict[str, Any]]
    rules: dict[str, Any]
    lock: threading.Lock


STATE: Final = _State(deque(), [], {}, threading.Lock())


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body: Any = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"null")
        if self.path.startswith("/_"):
            self._send(200, {"/_rules": _rules, "/_replies": _replies, "/_seen": _seen}[self.path](body))
            return
        entry = {"path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()}, "body": body}
        entry |= {"port": self.client_address[1], "ended": "open"}
        with STATE.lock:
            STATE.seen.append(entry)
        try:
            entry["ended"] = self._serve(body)
        except (_Gone, OSError):
            entry["ended"] = "gone"
            self.close_connection = True

    def log_message(self, *_: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Nothing: stdout is spoken on."""

    def _serve(self, body: dict[str, Any]) -> str:
        refused = self._refusal(body)
        if refused is not None:
            return self._error(refused)
        with STATE.lock:
            reply = STATE.replies.popleft() if STATE.replies else ModelReply("nothing was enqueued", status=500)
        if reply.stall_after == 0:
            self._pause(_LONG_S)
        self._pause(reply.first_s)
        if reply.status != 200:
            return self._error(reply)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        if reply.encoding:
            self.send_header("Content-Encoding", reply.encoding)
        self.end_headers()
        if reply.garbage:
            self._write(reply.garbage)
        ended = "whole" if reply.garbage else self._stream(reply, body)
        if ended == "whole":
            self.wfile.write(b"0\r\n\r\n")
        return ended

    def _refusal(self, body: dict[str, Any]) -> ModelReply | None:
        key, rules = STATE.rules["key"], STATE.rules
        if key and self.headers.get("Authorization") != f"Bearer {key}":
            return ModelReply(f"wrong key: {self.headers.get('Authorization')}", status=401)
        for field in rules["refuses"]:
            if field in body:
                return ModelReply(f"Unsupported parameter: '{field}'", status=rules["status"], param=field)
        kind = body.get("response_format", {}).get("type")
        if kind in rules["drops"]:
            return ModelReply(f"response_format {kind} is not supported", status=rules["status"])
        return None

    def _error(self, reply: ModelReply) -> str:
        more = {"Retry-After": reply.retry_after} if reply.retry_after else {}
        if reply.garbage:
            self._send_bytes(reply.status, reply.garbage.encode(), more)
        else:
            self._send(reply.status, {"error": {"message": reply.text, "param": reply.param or None}}, more)
        return "whole"

    def _stream(self, reply: ModelReply, body: dict[str, Any]) -> str:
        words = reply.text.split(" ")
        most = body.get("max_tokens") or body.get("max_completion_tokens") or len(words)
        for number, word in enumerate(words[:most]):
            self._hold(reply, number)
            if reply.cut_after == number:
                return self._cut()
            self._chunk({"delta": {"content": word if number == 0 else f" {word}"}, "index": 0, "finish_reason": None})
        self._hold(reply, len(words[:most]))
        if reply.cut_after == len(words[:most]):
            return self._cut()
        finish = "length" if len(words) > most else reply.finish
        if finish:
            self._chunk({"delta": {}, "index": 0, "finish_reason": finish})
        if reply.usage and body.get("stream_options", {}).get("include_usage"):
            read = sum(len(str(one["content"]).split(" ")) for one in body["messages"])
            counts = {"prompt_tokens": read, "completion_tokens": len(words[:most]), "total_tokens": read}
            counts["prompt_tokens_details"] = {"cached_tokens": reply.cached}  # type: ignore[assignment]
            self._write(f"data: {json.dumps({'model': 'stand-in-1', 'choices': [], 'usage': counts})}\n\n")
        self._write("data: [DONE]\n\n")
        return "whole"

    def _hold(self, reply: ModelReply, number: int) -> None:
        if reply.stall_after == number:
            self._pause(_LONG_S)
        if number:
            self._pause(reply.token_s)

    def _cut(self) -> str:
        """With a reset, so that nobody takes it for an end."""
        self.close_connection = True
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.connection.close()
        return "cut"

    def _chunk(self, choice: dict[str, Any]) -> None:
        whole = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "stand-in-1", "choices": [choice]}
        self._write(f"data: {json.dumps(whole)}\n\n")

    def _write(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _pause(self, seconds: float) -> None:
        """Wait, and notice it if the client goes."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if select.select([self.connection], [], [], min(left, 1.0))[0] and not self.connection.recv(
                1, socket.MSG_PEEK
            ):
                raise _Gone

    def _send(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        self._send_bytes(status, msgspec.json.encode(value), headers or {})

    def _send_bytes(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Type": "application/json", "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def _rules(body: Any) -> Any:
    with STATE.lock:
        STATE.rules.update(body)
        STATE.replies.clear()
        STATE.seen.clear()
    return {}


def _replies(body: Any) -> Any:
    with STATE.lock:
        STATE.replies.extend(msgspec.convert(body, list[ModelReply]))
    return {}


def _seen(_body: Any) -> Any:
    with STATE.lock:
        return list(STATE.seen)


def main() -> None:
    """Serve until stdin ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
