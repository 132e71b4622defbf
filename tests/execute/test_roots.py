"""Files beneath the roots: what is found, read and written, and every way out that must be shut."""

from __future__ import annotations

import gc
import hashlib
import os
import socket
import stat
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.execute import beneath
from metnos.execute.grant import Grant
from metnos.execute.roots import RootedFiles
from metnos.sdk import FilesError

if TYPE_CHECKING:
    from metnos.execute.beneath import OpenBeneath

BOTH = pytest.mark.parametrize("opener", [beneath.by_openat2, beneath.by_components])
SECRET = "outside"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A root with a few files, beside a file that must never be reached."""
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret").write_text(SECRET)
    root = tmp_path / "root"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "a.txt").write_text("alpha")
    (root / "sub" / "b.txt").write_text("beta")
    (root / "sub" / "deep" / "c.txt").write_text("gamma")
    return root


def files(root: Path, opener: OpenBeneath | None = None, **grant: Any) -> RootedFiles:
    return RootedFiles(Grant(**{"folder": str(root), "roots": (str(root),), **grant}), opener)


def refusal(work: Any, *args: Any, **kwargs: Any) -> tuple[str, str]:
    with pytest.raises(FilesError) as caught:
        work(*args, **kwargs)
    return caught.value.cls, caught.value.code


def names(found: RootedFiles, path: str = ".", *, recursive: bool = True, hidden: bool = False) -> list[str]:
    return [entry.path for entry in found.scan(path, recursive=recursive, hidden=hidden)]


# --- ways out ----------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    "path",
    [
        "../secret",
        "sub/../../secret",
        "/etc/passwd",
        "{top}/../secret",
        "sub/deep/../../../secret",
        "//etc/passwd",
        "../root2/x",
        "{top}2",
        "./../secret",
        "..",
        "/",
        "/proc/self/environ",
        "/proc/self/root/etc/passwd",
    ],
)
def test_a_path_that_leads_out_is_refused_by_its_text(top: Path, opener: OpenBeneath, path: str) -> None:
    found = files(top, opener)
    path = path.format(top=top)
    for work in (
        lambda: found.read(path, limit=10),
        lambda: found.stat(path),
        lambda: names(found, path),
        lambda: found.write(path, b"x", overwrite=True),
    ):
        assert refusal(work) == ("denied", "outside-roots")


@BOTH
@pytest.mark.parametrize("path", [b"../secret", b"/etc/passwd", b"sub/../../secret", b"..", b"sub/../.."])
def test_the_opener_itself_holds_the_line(top: Path, opener: OpenBeneath, path: bytes) -> None:
    """Whatever text got past the first check."""
    root = os.open(top, beneath.FOLDER)
    try:
        with pytest.raises(OSError):  # noqa: PT011 - which number depends on the way
            opener(root, path, os.O_RDONLY)
    finally:
        os.close(root)


@BOTH
@pytest.mark.parametrize(
    "target", ["../secret", "a.txt", "{out}", "/etc/passwd", "nowhere", "/proc/self/environ", "link"]
)
def test_no_symlink_is_followed_wherever_it_points(top: Path, opener: OpenBeneath, target: str) -> None:
    (top / "link").symlink_to(target.format(out=top.parent / "secret"))
    found = files(top, opener)
    assert refusal(found.read, "link", limit=10) == ("denied", "symlink")
    assert refusal(found.stat, "link") == ("denied", "symlink")
    assert refusal(found.write, "link", b"x", overwrite=True) == ("denied", "symlink")
    assert refusal(found.write, "link", b"x", overwrite=False) == ("denied", "symlink")
    assert (top.parent / "secret").read_text() == SECRET
    assert (top / "link").is_symlink()


@BOTH
@pytest.mark.parametrize("target", ["../elsewhere", "sub", "/proc/self", "/proc/self/fd", "/"])
def test_no_symlink_on_the_way_is_followed(top: Path, opener: OpenBeneath, target: str) -> None:
    (top / "way").symlink_to(target)
    found = files(top, opener)
    for path in ("way/secret", "way/b.txt", "way/environ", "way/0", "way/etc/passwd"):
        assert refusal(found.read, path, limit=10) == ("denied", "symlink")
        assert refusal(found.write, path, b"x", overwrite=True)[1] in {"symlink", "not-a-folder"}
    assert refusal(names, found, "way") == ("denied", "symlink")
    assert (top.parent / "elsewhere" / "secret").read_text() == SECRET


@BOTH
def test_a_scan_shows_links_and_never_enters_them(top: Path, opener: OpenBeneath) -> None:
    (top / "way").symlink_to("../elsewhere")
    (top / "loop").symlink_to(".")
    found = files(top, opener)
    entries = {entry.path: entry for entry in found.scan(".", recursive=True, hidden=False)}
    assert "way/secret" not in entries
    assert entries["way"].is_link
    assert not entries["way"].is_file
    assert not entries["way"].is_dir


@BOTH
def test_a_folder_swapped_for_a_link_never_leads_out(top: Path, opener: OpenBeneath) -> None:
    """The classic race: one thread swaps a folder for a symlink to another, the other reads through it."""
    (top / "swap").mkdir()
    (top / "swap" / "secret").write_text("inside")
    (top / "link").symlink_to(top.parent / "elsewhere")
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            os.rename(top / "swap", top / "kept")
            os.rename(top / "link", top / "swap")
            os.rename(top / "swap", top / "link")
            os.rename(top / "kept", top / "swap")

    thread = threading.Thread(target=swap)
    thread.start()
    seen: set[bytes] = set()
    try:
        found = files(top, opener)
        for _ in range(3000):
            try:
                seen.add(found.read("swap/secret", limit=100)[0])
            except FilesError as fault:
                assert fault.code in {"symlink", "not-found", "not-a-folder", "io-error"}, fault.code
    finally:
        over.set()
        thread.join()
    assert seen <= {b"inside"}


@BOTH
@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a\0b", "bad-path"),
        ("", "bad-path"),
        ("x" * 300, "name-too-long"),
        ("d/" * 3000, "name-too-long"),
    ],
)
def test_names_that_cannot_be(top: Path, opener: OpenBeneath, path: str, code: str) -> None:
    found = files(top, opener)
    assert refusal(found.read, path, limit=1) == ("arguments", code)
    assert refusal(found.write, path, b"", overwrite=True) == ("arguments", code)


@BOTH
def test_pipes_sockets_devices_and_folders_are_not_read_or_replaced(top: Path, opener: OpenBeneath) -> None:
    os.mkfifo(top / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.open(top, os.O_RDONLY)
        try:
            listening.bind(f"/proc/self/fd/{here}/socket")
        finally:
            os.close(here)
        found = files(top, opener)
        for name in ("pipe", "socket"):
            assert refusal(found.read, name, limit=1) == ("denied", "not-a-file")
            assert refusal(found.write, name, b"", overwrite=True) == ("denied", "not-a-file")
    assert refusal(found.read, "sub", limit=1) == ("arguments", "is-a-folder")
    assert refusal(found.write, "sub", b"", overwrite=True) == ("arguments", "is-a-folder")
    assert refusal(found.write, ".", b"", overwrite=True) == ("arguments", "is-a-folder")
    assert refusal(names, found, "a.txt") == ("missing", "not-a-folder")
    if os.access("/dev/zero", os.R_OK):
        assert refusal(files(Path("/dev"), opener).read, "zero", limit=1) == ("denied", "not-a-file")


@BOTH
def test_what_the_kernel_shows_of_itself_is_not_read_even_where_granted(opener: OpenBeneath) -> None:
    found = files(Path("/"), opener)
    pid = os.getpid()
    assert refusal(found.read, "/proc/self/environ", limit=10) == ("denied", "symlink")
    assert refusal(found.read, f"/proc/{pid}/environ", limit=10) == ("denied", "not-a-file-system")
    assert refusal(found.read, f"/proc/{pid}/cwd/x", limit=10) == ("denied", "symlink")
    assert refusal(names, found, "/proc") == ("denied", "not-a-file-system")


@BOTH
def test_a_hard_link_is_read_and_what_it_shares_is_never_written(top: Path, opener: OpenBeneath) -> None:
    os.link(top.parent / "secret", top / "hard")
    found = files(top, opener)
    assert found.read("hard", limit=100)[0] == SECRET.encode()
    found.write("hard", b"new", overwrite=True)
    assert (top / "hard").read_text() == "new"
    assert (top.parent / "secret").read_text() == SECRET


@given(
    st.lists(st.sampled_from(["..", ".", "sub", "deep", "a.txt", "link", "out", "", "~", "%2e%2e", "C:"]), max_size=6),
    st.booleans(),
)
def test_no_path_at_all_reads_the_secret(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str], absolute: bool
) -> None:
    base = tmp_path_factory.getbasetemp() / "any"
    root = base / "root"
    if not root.exists():
        (root / "sub" / "deep").mkdir(parents=True)
        (base / "a.txt").write_text(SECRET)
        (root / "a.txt").write_text("inside")
        (root / "link").symlink_to("..")
        (root / "out").symlink_to("../a.txt")
    path = ("/" if absolute else "") + "/".join(parts)
    for opener in (beneath.by_openat2, beneath.by_components):
        try:
            data = files(root, opener).read(path, limit=100)[0]
        except FilesError:
            continue
        assert data == b"inside"


def test_the_fallback_is_chosen_where_the_call_is_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> int:
        raise PermissionError

    monkeypatch.setattr(beneath, "by_openat2", forbidden)
    assert beneath.best.__wrapped__() is beneath.by_components


def test_descriptors_are_given_back(top: Path) -> None:
    gc.collect()  # what other tests left gives its own back meanwhile
    before = len(os.listdir("/proc/self/fd"))
    for opener in (beneath.by_openat2, beneath.by_components):
        found = files(top, opener)
        assert names(found)
        scanning = found.scan(".", recursive=True, hidden=False)
        next(scanning)
        scanning.close()
        for path in ("a.txt", "sub/deep/c.txt", "nowhere", "sub/nowhere/x", "sub"):
            with suppress(FilesError):
                found.read(path, limit=1)
        found.write("new/x", b"1", overwrite=False)
        found.write("new/x", b"2", overwrite=True)
        (top / "new" / "x").unlink()
        (top / "new").rmdir()
        found.close()
    assert len(os.listdir("/proc/self/fd")) == before


# --- scanning ----------------------------------------------------------------------------------------------------


@BOTH
def test_a_scan_is_in_byte_order_with_folders_before_their_contents(top: Path, opener: OpenBeneath) -> None:
    for name in ("Z", "é", "_", "10", "9"):
        (top / name).touch()
    assert names(files(top, opener)) == [
        "10",
        "9",
        "Z",
        "_",
        "a.txt",
        "sub",
        "sub/b.txt",
        "sub/deep",
        "sub/deep/c.txt",
        "é",
    ]
    assert names(files(top, opener), recursive=False) == ["10", "9", "Z", "_", "a.txt", "sub", "é"]


def test_hidden_names_are_off_unless_asked_and_allowed(top: Path) -> None:
    (top / ".git").mkdir()
    (top / ".git" / "config").touch()
    (top / ".env").touch()
    assert not any(name.startswith(".") for name in names(files(top)))
    assert {".env", ".git", ".git/config"} <= set(names(files(top), hidden=True))
    assert not any(name.startswith(".") for name in names(files(top, allow_hidden=False), hidden=True))


def test_paths_are_relative_to_the_folder_where_they_lie_below_it(top: Path) -> None:
    found = files(top, folder=str(top / "sub"))
    assert names(found, ".") == ["b.txt", "deep", "deep/c.txt"]
    assert names(found, str(top), recursive=False) == [str(top / "a.txt"), "."]
    assert found.stat(".").path == "."
    assert found.read("deep/c.txt", limit=9) == (b"gamma", 5)
    assert found.read(str(top / "a.txt"), limit=2) == (b"al", 5)


def test_what_cannot_be_listed_is_counted_and_told(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really = os.open

    def guarded(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        if path == "deep":
            raise PermissionError(13, "no")
        return really(path, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", guarded)
    found = files(top)
    assert "sub/deep/c.txt" not in names(found)
    assert found.skipped == {"unreadable": 1}
    assert found.warnings == ["unreadable: sub/deep"]


def test_what_vanishes_meanwhile_is_skipped_and_counted(top: Path) -> None:
    (top / "b").mkdir()
    (top / "b" / "x").touch()
    found = files(top)
    scanning = found.scan(".", recursive=True, hidden=False)
    assert next(scanning).path == "a.txt"
    assert next(scanning).path == "b"
    (top / "b" / "x").unlink()
    (top / "b").rmdir()
    (top / "sub").rename(top / "moved")
    assert [entry.path for entry in scanning] == []
    assert found.skipped == {"vanished": 2}


def test_folders_deeper_than_descriptors_allow_are_told(top: Path) -> None:
    here = os.open(top, os.O_RDONLY)
    for _ in range(230):
        os.mkdir("d", dir_fd=here)
        deeper = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)
    found = files(top)
    assert len(names(found)) == 5 + 200
    assert found.skipped == {"too-deep": 1}


def test_a_name_that_is_not_utf8_is_shown_and_can_be_acted_on(top: Path) -> None:
    raw = b"caf\xe9 100%: \xff.txt"
    (top / os.fsdecode(raw)).write_text("found")
    entry = next(entry for entry in files(top).scan(".", recursive=False, hidden=False) if entry.path_bytes)
    assert entry.path == entry.name == "caf\ufffd 100%: \ufffd.txt"
    assert entry.path_bytes == "caf%E9%20100%25%3A%20%FF.txt"
    assert unquote_to_bytes(entry.path_bytes) == raw
    assert files(top).read(os.fsdecode(unquote_to_bytes(entry.path_bytes)), limit=9)[0] == b"found"
    assert refusal(files(top).read, entry.path, limit=9) == ("missing", "not-found")


# --- writing -----------------------------------------------------------------------------------------------------


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


@BOTH
def test_a_new_file_is_whole_and_its_folders_are_made(top: Path, opener: OpenBeneath) -> None:
    found = files(top, opener)
    assert found.write("new/er/x.txt", b"text", overwrite=False) == (None, digest(b"text"))
    assert (top / "new" / "er" / "x.txt").read_bytes() == b"text"
    assert os.listdir(top / "new" / "er") == ["x.txt"]
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((top / "new" / "er" / "x.txt").stat().st_mode) == 0o666 & ~umask
    assert refusal(found.write, "no/x", b"", overwrite=False, make_dirs=False) == ("missing", "not-found")


@BOTH
def test_creating_never_replaces_and_the_same_again_is_a_success(top: Path, opener: OpenBeneath) -> None:
    found = files(top, opener)
    assert refusal(found.write, "a.txt", b"other", overwrite=False) == ("conflict", "exists")
    assert (top / "a.txt").read_text() == "alpha"
    inode = (top / "a.txt").stat().st_ino
    assert found.write("a.txt", b"alpha", overwrite=False) == (digest(b"alpha"), digest(b"alpha"))
    assert (top / "a.txt").stat().st_ino == inode
    assert sorted(os.listdir(top)) == ["a.txt", "sub"]


def test_overwriting_keeps_the_mode_and_gives_both_digests(top: Path) -> None:
    (top / "a.txt").chmod(0o640)
    assert files(top).write("a.txt", b"new", overwrite=True) == (digest(b"alpha"), digest(b"new"))
    assert stat.S_IMODE((top / "a.txt").stat().st_mode) == 0o640
    assert sorted(os.listdir(top)) == ["a.txt", "sub"]


def test_a_file_that_appears_meanwhile_is_not_replaced(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(folder: int, old: str, new: str) -> None:
        (top / new).write_text("faster")
        beneath.rename_no_replace(folder, old, new)

    monkeypatch.setattr("metnos.execute.writing.rename_no_replace", late)
    assert refusal(files(top).write, "x", b"mine", overwrite=False) == ("conflict", "exists")
    assert (top / "x").read_text() == "faster"
    assert sorted(os.listdir(top)) == ["a.txt", "sub", "x"]


def test_where_the_rename_is_missing_a_link_does_the_same(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beneath, "_libc", lambda: object())
    found = files(top, beneath.by_components)
    found.write("x", b"1", overwrite=False)
    assert sorted(os.listdir(top)) == ["a.txt", "sub", "x"]


@pytest.mark.parametrize("call", ["write", "fsync", "rename", "fchmod"])
def test_a_failure_at_any_point_leaves_the_old_file_and_nothing_else(
    top: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, full)
    outcome = refusal(files(top).write, "a.txt", b"new", overwrite=True)
    monkeypatch.undo()
    assert outcome == ("operational", "no-space")
    assert (top / "a.txt").read_text() == "alpha"
    assert sorted(os.listdir(top)) == ["a.txt", "sub"]


# --- what is withheld --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spelled", ["sub", "sub/deep", ".", "link-to-sub"])
def test_what_is_withheld_below_a_root_is_neither_found_nor_read_nor_written(top: Path, spelled: str) -> None:
    (top / "link-to-sub").symlink_to("sub")
    root = top.parent / "link-to-root"
    root.symlink_to(top)
    shut = files(root, folder=str(root), withheld=(str(top / spelled),))
    assert refusal(shut.read, "sub/deep/c.txt", limit=9) == ("denied", "withheld")
    assert refusal(shut.read, f"{root}/sub/../sub/deep/c.txt", limit=9) == ("denied", "withheld")
    assert refusal(shut.stat, "sub/deep") == ("denied", "withheld")
    assert refusal(shut.write, "sub/deep/new.txt", b"x", overwrite=True) == ("denied", "withheld")
    assert not (top / "sub" / "deep" / "new.txt").exists()
    if spelled == ".":
        assert refusal(shut.scan, ".", recursive=True, hidden=True) == ("denied", "withheld")
        return
    found = names(shut)
    assert "a.txt" in found
    assert not [path for path in found if path.startswith("sub/deep")]
    assert shut.skipped == {"withheld": 1}


def test_a_root_inside_what_is_withheld_is_shut_too(top: Path) -> None:
    shut = files(top / "sub", withheld=(str(top),))
    assert refusal(shut.read, "b.txt", limit=9) == ("denied", "withheld")


def test_what_is_withheld_elsewhere_shuts_nothing(top: Path) -> None:
    open_ = files(top, withheld=(str(top.parent / "roo"), str(top) + "x", "/nowhere"))
    assert open_.read("sub/b.txt", limit=9) == (b"beta", 4)


def test_a_hint_grants_the_folder_asked_for_and_never_everything(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "other").mkdir()
    files = RootedFiles(Grant(folder=str(tmp_path / "here"), roots=(str(tmp_path / "here"),)))
    for path, granted in ((tmp_path / "other", tmp_path / "other"), (tmp_path / "other" / "x.txt", tmp_path / "other")):
        with pytest.raises(FilesError) as caught:
            files.stat(str(path))
        assert caught.value.hint == f"grant it with --root {granted}"
    for path in ("/", "/nothing-there"):
        with pytest.raises(FilesError) as caught:
            files.stat(path)
        assert "--root /" not in caught.value.hint
    files.close()
