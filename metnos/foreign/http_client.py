"""Calls of OpenAPI operations, over connections that are kept.

Law: runs on the clients' own loop. What is sent was built by `http_request.py`; credentials are put in here, for the
service's own origin and for no other. A redirect is followed for reads by `FOLLOWED` methods alone, at most
`MOST_REDIRECTS` times, and each is a new connection that is judged anew. Only a request that was sent can leave an
effect in doubt, and then it does: an answer that cannot be read is no proof that nothing was done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2

from metnos.foreign.faults import CallFault
from metnos.foreign.http_request import HttpRequest, request_of
from metnos.foreign.model import Http
from metnos.foreign.network import open_client
from metnos.foreign.secrets import filled_in
from metnos.plan.jsondata import JSONFault, loads_strict
from metnos.sdk import Effect, Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metnos.foreign.model import Import, Tool
    from metnos.sdk import ErrorClass

MOST_REDIRECTS = 5
MOST_DEPTH = 32
CLASSES: dict[int, ErrorClass] = {
    400: "arguments",
    401: "denied",
    403: "denied",
    404: "missing",
    405: "arguments",
    408: "timeout",
    409: "conflict",
    410: "missing",
    412: "conflict",
    413: "oversize",
    422: "arguments",
    504: "timeout",
}
"""Status → class of the failure; every other one is `operational`."""
RETRYABLE = frozenset({408, 429, 502, 503, 504})
IN_DOUBT: dict[int, ErrorClass] = {500: "crashed", 502: "crashed", 504: "timeout"}
"""Of these nobody can say whether an effect was made before it went wrong."""
FOLLOWED = frozenset({"GET", "HEAD"})
_MOST_SAID = 1_000
_PLAIN_HEADERS = ("accept",)


class HttpClient:
    """One service."""

    def __init__(self, imported: Import, variables: Mapping[str, str]) -> None:
        assert isinstance(imported.reach, Http)
        self._name = imported.name
        self._reach = imported.reach
        self._variables = variables
        self._most = imported.output_bytes
        self._client = open_client(imported.reach.allow_hosts, most_bytes=imported.output_bytes).http

    async def call(self, tool: Tool, args: dict[str, Any], source: str) -> Result:
        """Call an operation.

        Raises:
            CallFault: It has no result.
        """
        assert tool.operation is not None
        acts = tool.effect != "read"
        request = request_of(self._reach.url, tool.operation, args)
        credentials = filled_in(self._reach.headers, self._variables)
        try:
            follow = not acts and request.method in FOLLOWED
            status, headers, body = await self._send(request, credentials, follow=follow)
        except httpx2.ConnectError as fault:
            message = f"{self._name} cannot be reached: {fault}"
            raise CallFault("unavailable", "foreign-unreachable", message, retryable=True) from fault
        except httpx2.TransportError as fault:
            message = f"{self._name} went away in mid-call: {fault}"
            raise CallFault(
                "crashed" if acts else "unavailable", "foreign-lost", message, retryable=not acts
            ) from fault
        except httpx2.InvalidURL as fault:
            raise CallFault("denied", "address-refused", f"this is no URL: {fault}") from fault
        except CallFault as fault:
            if acts and fault.cls in ("oversize", "data"):
                raise CallFault("internal", fault.code, fault.message, hint=fault.hint) from fault
            raise
        if status >= 300:
            raise _refusal(status, body, acts=acts)
        data = _data(headers.get("content-type", ""), body, self._most, acts=acts)
        effects = (Effect(cls=tool.effect, target=f"{source}.{tool.name}"),) if acts else ()
        return Result.done(data, effects=effects)

    async def close(self) -> None:
        """Close every connection."""
        await self._client.aclose()

    async def _send(
        self, request: HttpRequest, credentials: dict[str, str], *, follow: bool
    ) -> tuple[int, httpx2.Headers, bytes]:
        origin = _origin(httpx2.URL(request.url))
        plain = {name.lower(): text for name, text in request.headers.items()}
        url, headers = httpx2.URL(request.url), {**plain, **{name.lower(): text for name, text in credentials.items()}}
        for _ in range(MOST_REDIRECTS + 1):
            async with self._client.stream(request.method, url, headers=headers, content=request.body) as answer:
                location = answer.headers.get("location")
                if not (follow and 300 <= answer.status_code < 400 and location):
                    return answer.status_code, answer.headers, await answer.aread()
            url = url.join(location)
            if url.scheme not in ("http", "https"):
                raise CallFault("denied", "address-refused", f"it redirects to {url.scheme}:", where=str(url.host))
            if _origin(url) != origin:
                headers = {name: text for name, text in plain.items() if name in _PLAIN_HEADERS}
        raise CallFault("operational", "tool-error", f"more than {MOST_REDIRECTS} redirects")


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _refusal(status: int, body: bytes, *, acts: bool) -> CallFault:
    said = body[:_MOST_SAID].decode("utf-8", "replace").strip()
    message = f"HTTP {status}" + (f": {said}" if said else "")
    cls = CLASSES.get(status, "operational")
    if acts:
        return CallFault(IN_DOUBT.get(status, cls), "tool-error", message)
    return CallFault(cls, "tool-error", message, retryable=status in RETRYABLE)


def _data(kind: str, body: bytes, most: int, *, acts: bool) -> Any:
    """JSON as it is, text as `text`; nothing else can be a result."""
    plain = kind.partition(";")[0].strip().lower()
    if not body:
        return {}
    try:
        if plain == "application/json" or plain.endswith("+json"):
            return loads_strict(body, max_bytes=most, max_depth=MOST_DEPTH)
        if plain.startswith("text/"):
            return {"text": body.decode("utf-8")}
    except JSONFault as fault:
        raise CallFault("internal" if acts else "data", fault.code, fault.message, where=fault.where) from fault
    except UnicodeDecodeError as fault:
        raise CallFault("internal" if acts else "data", "foreign-protocol", "its text is not UTF-8") from fault
    message = f"it answered {plain or 'without a type'}, which is neither JSON nor text"
    raise CallFault("internal" if acts else "data", "foreign-protocol", message)
