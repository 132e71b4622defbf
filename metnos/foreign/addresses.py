"""Which addresses may be connected to: public ones, and what the operator allowed by the host's own spelling.

Law: pure. A host is resolved once by whoever connects; every address that comes of it is judged here, as a number, never
as text. Forms that carry an IPv4 address inside an IPv6 one are judged by what they carry. The list is explicit, because
`ipaddress.is_global` calls translated forms of loopback global.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Address: TypeAlias = "ipaddress.IPv4Address | ipaddress.IPv6Address"

DENIED: tuple[tuple[str, str], ...] = (
    ("0.0.0.0/8", "this host"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "shared by a provider"),
    ("127.0.0.0/8", "loopback"),
    ("169.254.0.0/16", "link-local"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "of a protocol"),
    ("192.0.2.0/24", "for documentation"),
    ("192.88.99.0/24", "a relay"),
    ("192.168.0.0/16", "private"),
    ("198.18.0.0/15", "for measurements"),
    ("198.51.100.0/24", "for documentation"),
    ("203.0.113.0/24", "for documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
    ("::/96", "this host, or an old form of IPv4"),
    ("64:ff9b:1::/48", "a local translation"),
    ("100::/64", "discarded"),
    ("2001::/23", "of a protocol"),
    ("2001:db8::/32", "for documentation"),
    ("3fff::/20", "for documentation"),
    ("5f00::/16", "of a protocol"),
    ("fc00::/7", "private"),
    ("fe80::/10", "link-local"),
    ("fec0::/10", "private"),
    ("ff00::/8", "multicast"),
)
"""Network → what it is."""
_NETWORKS = tuple((ipaddress.ip_network(network), what) for network, what in DENIED)
_MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")
_MAPPED_OLD = ipaddress.IPv6Network("::ffff:0:0:0/96")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_6TO4 = ipaddress.IPv6Network("2002::/16")
_GLOBAL = ipaddress.IPv6Network("2000::/3")
_LOW = 0xFFFFFFFF


def why_denied(address: str) -> str:
    """What forbids connecting to `address` (a number, as a resolver gives it); empty: nothing does."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "no address"
    for each in _meanings(found):
        for network, what in _NETWORKS:
            if each.version == network.version and each in network:
                return what
        if isinstance(each, ipaddress.IPv6Address) and each not in _GLOBAL:
            return "outside the public range"
    return ""


def first_denied(addresses: Iterable[str]) -> tuple[str, str] | None:
    """(address, what it is) of the first that may not be connected to; None: all may be."""
    for address in addresses:
        what = why_denied(address)
        if what:
            return address, what
    return None


def same_host(one: str, other: str) -> bool:
    """Whether two spellings are the same text but for case and a final dot; nothing is resolved."""
    return one.rstrip(".").casefold() == other.rstrip(".").casefold()


def _meanings(address: Address) -> Iterator[Address]:
    """The address itself, or the IPv4 address that it carries."""
    if isinstance(address, ipaddress.IPv4Address):
        yield address
        return
    number = int(address)
    if address in _MAPPED or address in _MAPPED_OLD or address in _NAT64:
        yield ipaddress.IPv4Address(number & _LOW)
    elif address in _6TO4:
        yield ipaddress.IPv4Address((number >> 80) & _LOW)
    else:
        yield address
