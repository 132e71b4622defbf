"""A server of one file on loopback, that keeps to HTTP as far as it is told to."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self


class FileServer:
    """Serves `data` at every path; the attributes may be changed while it runs."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.ranges = True
        self.status = 200
        self.cut: int | None = None
        """So many bytes, then the connection is closed."""
        self.length = True
        self.location = ""
        self.shift = 0
        """A rest begins so much later than was asked for."""
        self.asked: list[str] = []
        """The `Range` of each request."""
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner._answer(self)

            def log_message(self, *_: Any) -> None:  # type: ignore[override]
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, request: Any, client_address: Any) -> None:
                """A client that goes away in mid-file is part of the game."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/m.gguf"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        wanted = request.headers.get("Range", "")
        self.asked.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.ranges else 0
        if self.location or self.status != 200:
            request.send_response(302 if self.location else self.status)
            request.send_header("Location", self.location)
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        body = self.data[start:]
        request.send_response(206 if start else 200)
        if start:
            request.send_header("Content-Range", f"bytes {start + self.shift}-{len(self.data) - 1}/{len(self.data)}")
        if self.length:
            request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body if self.cut is None else body[: self.cut])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
