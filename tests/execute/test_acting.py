"""Files acted on: nothing leads out, a failing disk loses nothing, an ordinary user's limits are told, what was cut off is finished."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from metnos.execute import beneath, filing, trash
from metnos.execute.grant import Grant
from metnos.execute.roots import RootedFiles
from metnos.sdk import FilesError

if TYPE_CHECKING:
    from metnos.execute.beneath import OpenBeneath

BOTH = pytest.mark.parametrize("opener", [beneath.by_openat2, beneath.by_components])
OP = "0123456789abcdef" * 4


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A root with two files and a folder, beside a folder that must never be reached."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("outside")
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "a").write_text("alpha")
    (root / "b").write_text("beta")
    return root


def files(top: Path, opener: OpenBeneath | None = None) -> RootedFiles:
    return RootedFiles(Grant(folder=str(top), roots=(str(top),), now="2026-11-30T12:00:00+01:00"), opener)


def tree(top: Path) -> dict[str, str]:
    found = {str(p.relative_to(top)): p.read_text() for p in sorted(top.rglob("*")) if p.is_file()}
    return {path: text for path, text in found.items() if not path.startswith(trash.TRASH)}


def refusal(work: Callable[[], Any]) -> tuple[str, str]:
    with pytest.raises(FilesError) as caught:
        work()
    return caught.value.cls, caught.value.code


def acts(on: RootedFiles, path: str) -> list[Callable[[], Any]]:
    """Everything that can be done to `path`, or made of it."""
    digest = "sha256:" + "0" * 64
    return [
        lambda: on.make_dir(path),
        lambda: on.remove_dir(path),
        lambda: on.copy("a", path, overwrite=True, operation=OP),
        lambda: on.copy(path, "new", overwrite=True, operation=OP),
        lambda: on.move("a", path, overwrite=True, operation=OP),
        lambda: on.move(path, "new", overwrite=True, operation=OP),
        lambda: on.find_moved("gone", path, operation=OP),
        lambda: on.trash(path, operation=OP),
        lambda: on.restore(path, "new", digest=digest, over=None, operation=OP),
        lambda: on.restore(".metnos-trash/gone/a", path, digest=digest, over=None, operation=OP),
        lambda: on.keep(path, unless=digest, operation=OP),
    ]


# --- ways out ----------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    "path", ["../outside/secret", "sub/../../outside/secret", "/etc/hostname", "/proc/self/environ"]
)
def test_no_act_leads_out_by_its_text(top: Path, opener: OpenBeneath, path: str) -> None:
    for act in acts(files(top, opener), path):
        assert refusal(act) == ("denied", "outside-roots")
    assert (top.parent / "outside" / "secret").read_text() == "outside"


@BOTH
def test_no_act_goes_through_a_symlink(top: Path, opener: OpenBeneath) -> None:
    (top / "out").symlink_to(top.parent / "outside")
    before = tree(top)
    for act in acts(files(top, opener), "out/secret"):
        assert refusal(act)[1] in ("symlink", "not-a-folder")
    assert tree(top) == before
    assert (top.parent / "outside" / "secret").read_text() == "outside"


@BOTH
def test_a_folder_swapped_for_a_symlink_at_the_last_moment_leads_nowhere(
    top: Path, opener: OpenBeneath, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is open by then: what its name leads to does not matter any more."""
    (top / "sub" / "secret").write_text("inside")
    real = filing.rename

    def swapped(source: Any, target: Any, *, replace: bool) -> None:
        (top / "sub").rename(top / "was")
        (top / "sub").symlink_to(top.parent / "outside")
        real(source, target, replace=replace)

    monkeypatch.setattr(filing, "rename", swapped)
    files(top, opener).trash("sub/secret", operation=OP)
    assert (top.parent / "outside" / "secret").read_text() == "outside"
    assert [path.read_text() for path in (top / trash.TRASH).glob("*/secret")] == ["inside"]
    assert list((top / "was").iterdir()) == []


def test_what_is_restored_comes_from_a_trash(top: Path) -> None:
    digest = files(top).copy("a", "c", overwrite=False, operation=OP).after
    assert digest is not None
    assert refusal(lambda: files(top).restore("c", "d", digest=digest, over=None, operation=OP)) == (
        "arguments",
        "bad-path",
    )


# --- a disk that fails -------------------------------------------------------------------------------------------


ACTS: dict[str, Callable[[RootedFiles], Any]] = {
    "copy": lambda on: on.copy("a", "c", overwrite=False, operation=OP),
    "copy over": lambda on: on.copy("a", "b", overwrite=True, operation=OP),
    "move": lambda on: on.move("a", "c", overwrite=False, operation=OP),
    "move over": lambda on: on.move("a", "b", overwrite=True, operation=OP),
    "trash": lambda on: on.trash("a", operation=OP),
}


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("call", ["write", "fsync", "rename", "link", "utime", "fchmod", "read"])
def test_a_disk_that_fails_at_the_nth_call_loses_nothing_and_is_told(
    top: Path, act: str, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For every n until none fails: either nothing was done, or all of it; then the same again finds it or does it."""
    for nth in range(1, 30):
        shutil.rmtree(top)
        top.mkdir()
        (top / "a").write_text("alpha")
        (top / "b").write_text("beta")
        before = tree(top)
        left = [nth]
        with monkeypatch.context() as patch:
            patch.setattr(os, call, failing(getattr(os, call), left))
            try:
                ACTS[act](files(top))
                outcome = "done"
            except FilesError as fault:
                outcome = fault.code
        assert outcome in ("done", "no-space")
        assert (tree(top) == before) is (outcome != "done")
        everything = {path.read_text() for path in top.rglob("*") if path.is_file() and path.suffix != ".json"}
        assert everything >= {"alpha", "beta"}
        assert not list(top.glob(".metnos-*.tmp"))
        if outcome != "done":
            ACTS[act](files(top))
            assert tree(top) != before
        if left[0] > 0:
            return
    raise AssertionError("it calls it without end")


def failing(real: Callable[..., Any], left: list[int]) -> Callable[..., Any]:
    """`real`, but for the call at which `left` comes to nothing."""

    def call(*args: Any, **kwargs: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*args, **kwargs)

    return call


def test_where_no_second_name_can_be_given_a_copy_is_kept(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: Any, **_kwargs: Any) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    change = files(top).copy("a", "b", overwrite=True, operation=OP)
    assert change.kept is not None
    assert Path(change.kept["path"]).read_text() == "beta"
    assert tree(top) == {"a": "alpha", "b": "alpha"}


def test_a_copy_that_was_cut_off_is_begun_anew(top: Path) -> None:
    (top / f".metnos-{OP[:32]}.tmp").write_text("half of it")
    files(top).copy("a", "c", overwrite=False, operation=OP)
    assert tree(top) == {"a": "alpha", "b": "beta", "c": "alpha"}


def test_a_file_that_changes_while_it_is_copied_is_refused(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync

    def changing(handle: int) -> None:
        (top / "a").write_text("longer than before")
        real(handle)

    monkeypatch.setattr(os, "fsync", changing)
    assert refusal(lambda: files(top).copy("a", "c", overwrite=False, operation=OP)) == ("conflict", "changed-since")
    assert tree(top) == {"a": "longer than before", "b": "beta"}


def test_what_changes_between_keeping_and_running_again_is_not_overwritten(top: Path) -> None:
    on = files(top)
    assert on.keep("b", unless="", operation=OP) is not None
    (top / "b").unlink()
    (top / "b").write_text("by hand")
    assert refusal(lambda: on.copy("a", "b", overwrite=True, operation=OP)) == ("conflict", "changed-since")
    assert tree(top) == {"a": "alpha", "b": "by hand"}


# --- an ordinary user --------------------------------------------------------------------------------------------


def as_nobody(work: Callable[[], Any]) -> Any:
    """What `work` gives or refuses in a child that is no superuser."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            try:
                found = work()
            except FilesError as fault:
                found = (fault.cls, fault.code)
            os.write(writer, json.dumps(found).encode())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(pid, 0)
    with os.fdopen(reader, "rb") as pipe:
        found = json.loads(pipe.read())
    return tuple(found) if isinstance(found, list) else found


@pytest.fixture
def locked(top: Path) -> Path:
    """A root whose folder `sub` may be read and not changed."""
    temporary = Path(tempfile.gettempdir()).resolve()
    for folder in (*(one for one in top.resolve().parents if one.is_relative_to(temporary)), top):
        if folder != temporary and folder.stat().st_uid == os.geteuid():
            folder.chmod(folder.stat().st_mode | 0o755)
    top.chmod(0o777)
    (top / "sub" / "c").write_text("gamma")
    (top / "sub" / "c").chmod(0o644)
    (top / "sub").chmod(0o555)
    (top / "a").chmod(0o644)
    return top


def test_what_may_not_be_changed_is_told_and_stays(locked: Path) -> None:
    on = files(locked)
    before = tree(locked)
    for act in (
        lambda: on.trash("sub/c", operation=OP),
        lambda: on.move("sub/c", "new", overwrite=False, operation=OP),
        lambda: on.copy("a", "sub/new", overwrite=False, operation=OP),
        lambda: on.make_dir("sub/new"),
    ):
        assert as_nobody(act) == ("denied", "no-permission")
    assert tree(locked) == before
    assert as_nobody(lambda: on.copy("sub/c", "new", overwrite=False, operation=OP).size) == 5


def test_a_root_in_which_no_trash_can_be_made_keeps_its_files(locked: Path) -> None:
    inner = RootedFiles(Grant(folder=str(locked / "sub"), roots=(str(locked / "sub"),)))
    assert as_nobody(lambda: inner.trash("c", operation=OP)) == ("denied", "no-permission")
    assert tree(locked)["sub/c"] == "gamma"
