"""HTTP that goes only where it may: each connection is made to an address that was judged, nowhere else.

Law: a host is resolved here once per connection, every address is judged, and the connection is made to the number that
was judged, under the host's name for TLS. There is no proxy, no Unix socket and no second resolution; a redirect is a
new connection and is judged anew. What is read has a limit, and nothing compressed is taken.
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

import httpcore2
import httpx2

from metnos.foreign.addresses import first_denied, same_host
from metnos.foreign.faults import CallFault

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

CONNECT_S = 10.0
_IDLE_S = 60.0
_EVENTS = "text/event-stream"


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to judged addresses."""

    def __init__(self, allow_hosts: Iterable[str] = ()) -> None:
        self._allowed = tuple(allow_hosts)
        self._plain: httpcore2.AsyncNetworkBackend = _plain_backend()
        self.fault: CallFault | None = None
        """The last refusal: a client of another library may have turned it into text."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Resolve, judge, connect; the first address that answers.

        Raises:
            CallFault: `address-refused`.
        """
        addresses = await self._resolve(host, port)
        if not any(same_host(host, allowed) for allowed in self._allowed):
            denied = first_denied(addresses)
            if denied is not None:
                self.fault = refused(host, *denied)
                raise self.fault
        failure: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in addresses:
            try:
                return await self._plain.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as fault:
                failure = fault
        raise failure

    async def connect_unix_socket(self, path: str, *_args: Any, **_more: Any) -> httpcore2.AsyncNetworkStream:
        """Never.

        Raises:
            CallFault: `address-refused`.
        """
        raise refused(path, "", "a Unix socket")

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    async def _resolve(self, host: str, port: int) -> list[str]:
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as fault:
            raise httpcore2.ConnectError(f"{host} cannot be resolved: {fault}") from fault
        return list(dict.fromkeys(str(row[4][0]) for row in found))


def _plain_backend() -> Any:
    """The library's own, for asyncio."""
    return httpcore2.AnyIOBackend()


def refused(host: str, address: str, what: str) -> CallFault:
    """The refusal of a host."""
    named = f"{host} ({address})" if address and address != host else host
    return CallFault(
        "denied",
        "address-refused",
        f"{named} is {what}",
        where=host,
        hint=f"if it is meant, import it again with --allow-host {host}",
    )


class GuardedTransport(httpx2.AsyncBaseTransport):
    """`httpx2` over a pool whose connections are judged, with a limit on what is read."""

    def __init__(self, backend: GuardedBackend, *, most_bytes: int) -> None:
        self._most = most_bytes
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=httpx2.create_ssl_context(trust_env=False),
            max_connections=16,
            keepalive_expiry=_IDLE_S,
            network_backend=backend,
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request."""
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        request.headers["accept-encoding"] = "identity"
        url = request.url
        plain = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        try:
            answer = await self._pool.handle_async_request(plain)
        except (*_TIMEOUTS, *_BROKEN) as fault:
            raise _mapped(fault, request) from fault
        untyped: Any = answer
        response = httpx2.Response(
            answer.status,
            headers=answer.headers,
            stream=_Limited(answer, request, self._most),
            extensions=untyped.extensions,
        )
        if response.headers.get("content-encoding", "identity").lower() not in ("", "identity"):
            await response.aclose()
            raise CallFault("data", "foreign-protocol", "the answer is compressed, which was not asked for")
        if response.headers.get("content-type", "").lower().startswith(_EVENTS):
            response.stream = _Limited(answer, request, None)  # each event has a limit of its own
        return response

    async def aclose(self) -> None:
        """Close every connection."""
        await self._pool.aclose()


class _Limited(httpx2.AsyncByteStream):
    def __init__(self, answer: httpcore2.Response, request: httpx2.Request, most: int | None) -> None:
        self._answer = answer
        self._request = request
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        try:
            async for part in self._answer.aiter_stream():
                read += len(part)
                if self._most is not None and read > self._most:
                    raise too_large(self._most)
                yield part
        except (*_TIMEOUTS, *_BROKEN) as fault:
            raise _mapped(fault, self._request) from fault

    async def aclose(self) -> None:
        await self._answer.aclose()


def too_large(most: int) -> CallFault:
    """More came than is taken."""
    return CallFault("oversize", "too-large", f"the answer has more than {most} bytes", hint="ask for less")


_TIMEOUTS = (httpcore2.TimeoutException,)
_BROKEN = (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.UnsupportedProtocol)


def _mapped(fault: Exception, request: httpx2.Request) -> httpx2.TransportError:
    text = str(fault) or type(fault).__name__
    if isinstance(fault, httpcore2.ConnectTimeout | httpcore2.PoolTimeout | httpcore2.ConnectError):
        return httpx2.ConnectError(text, request=request)
    if isinstance(fault, httpcore2.TimeoutException):
        return httpx2.ReadTimeout(text, request=request)
    return httpx2.ReadError(text, request=request)


def open_client(allow_hosts: Iterable[str], *, most_bytes: int, headers: dict[str, str] | None = None) -> Client:
    """A client whose every connection is judged."""
    backend = GuardedBackend(allow_hosts)
    transport = GuardedTransport(backend, most_bytes=most_bytes)
    timeout = httpx2.Timeout(None, connect=CONNECT_S, pool=CONNECT_S)
    client = httpx2.AsyncClient(
        transport=transport, headers=headers, timeout=timeout, follow_redirects=False, trust_env=False
    )
    return Client(client, backend)


class Client:
    """An `httpx2` client and the backend that judges for it."""

    def __init__(self, http: httpx2.AsyncClient, backend: GuardedBackend) -> None:
        self.http = http
        self.backend = backend
