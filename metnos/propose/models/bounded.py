"""HTTP replies with an end: no more bytes than a limit, and none that unpack to more.

Law: imported only where a server is asked; knows no model.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

import httpx2

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class BoundedTransport(httpx2.AsyncHTTPTransport):
    """Refuses what is packed, and ends what is too long. A connection serves one request: one that was kept may have been
    closed by its server meanwhile, and then a call fails that was never read.
    """

    def __init__(self, most_bytes: int) -> None:
        super().__init__(trust_env=False, limits=httpx2.Limits(max_keepalive_connections=0))
        self._most = most_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """As the transport does."""
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise httpx2.DecodingError("the reply is packed, and that was not asked for", request=request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Bounded(response.stream, self._most, request)
        return response


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most: int, request: httpx2.Request) -> None:
        self._stream = stream
        self._most = most
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._most
        parts = aiter(self._stream)
        try:
            async for part in parts:
                left -= len(part)
                if left < 0:
                    raise httpx2.DecodingError(f"the reply is longer than {self._most} bytes", request=self._request)
                yield part
        finally:
            if isinstance(parts, AsyncGenerator):  # cut off: nobody else ends it
                await parts.aclose()

    async def aclose(self) -> None:
        await self._stream.aclose()
