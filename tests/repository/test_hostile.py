"""The test run is hostile: what a test could lean on by accident is not there."""

from __future__ import annotations

import os
import socket
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest_socket import SocketConnectBlockedError


def test_the_home_is_a_test_s_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    base = tmp_path_factory.getbasetemp()
    assert Path.home().is_relative_to(base)
    assert Path(os.environ["METNOS_HOME"]).is_relative_to(base)
    assert [name for name in os.environ if name.startswith("METNOS_")] == ["METNOS_HOME"]


def test_only_loopback_can_be_reached() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        socket.create_connection(listening.getsockname()).close()
    with socket.socket() as outward, pytest.raises(SocketConnectBlockedError):
        outward.connect(("192.0.2.1", 9))  # an address of documentation (RFC 5737): nobody's


def test_a_warning_is_an_error() -> None:
    with pytest.raises(UserWarning, match="mind this"):
        warnings.warn("mind this", stacklevel=1)


@given(st.integers())
def test_examples_are_the_same_on_every_run(number: int) -> None:
    profile = settings()
    assert isinstance(number, int)
    assert profile.derandomize or profile.max_examples > 1_000
    assert profile.deadline is None
