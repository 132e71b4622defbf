"""Which addresses may be connected to, as numbers and as forms of other numbers."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.foreign.addresses import DENIED, first_denied, same_host, why_denied

LOOPBACK_FORMS = (
    "127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1", "::ffff:0:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1",
    "2002:7f00:1::", "64:ff9b:1::7f00:1", "::", "0.0.0.0",
)  # fmt: skip
OTHERS = (
    "10.1.2.3", "172.31.0.1", "192.168.1.1", "169.254.169.254", "100.100.1.1", "224.0.0.1", "255.255.255.255", "fe80::1",
    "fe80::1%eth0", "fd00::1", "ff02::1", "2001:db8::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "4000::1", "localhost",
    "", "127.1", "1.2.3.4.5",
)  # fmt: skip


@pytest.mark.parametrize("address", [*LOOPBACK_FORMS, *OTHERS])
def test_denied(address: str) -> None:
    assert why_denied(address)


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "2002:808:808::1", "64:ff9b::808:808"]
)
def test_public(address: str) -> None:
    assert why_denied(address) == ""


@given(st.sampled_from([ipaddress.ip_network(network) for network, _ in DENIED]), st.integers(min_value=0))
def test_every_address_of_every_network_is_denied(network: ipaddress.IPv4Network, number: int) -> None:
    address = network[number % network.num_addresses]
    assert why_denied(str(address))
    if address.version == 4:
        for form in ("::ffff:{}", "64:ff9b::{}"):
            assert why_denied(form.format(address))


def test_one_bad_address_among_good_ones_is_enough() -> None:
    assert first_denied(["8.8.8.8", "10.0.0.1"]) == ("10.0.0.1", "private")
    assert first_denied(["8.8.8.8"]) is None


def test_hosts_are_compared_as_text() -> None:
    assert same_host("Example.org.", "example.ORG")
    assert not same_host("127.1", "127.0.0.1")
