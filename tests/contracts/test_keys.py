"""Keys of one's own, and a catalog folder looked at again: each refusal by its code."""

from __future__ import annotations

from pathlib import Path

import pytest

from metnos.contracts.keys import KeyFault, folder_of, new_key, open_key, own_keys, own_root
from metnos.contracts.verify import verify_catalog
from tests.support.signing import NOW, key


def code_of(caught: pytest.ExceptionInfo[KeyFault]) -> str:
    return caught.value.code


def test_a_key_is_made_once_and_is_its_owners(tmp_path: Path) -> None:
    made = new_key(tmp_path, "mine")
    path = folder_of(tmp_path) / "mine.ed25519"
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert own_keys(tmp_path) == [made]
    before = path.read_bytes()
    with pytest.raises(KeyFault) as caught:
        new_key(tmp_path, "mine")
    assert (code_of(caught), path.read_bytes()) == ("key-exists", before)
    assert open_key(tmp_path, str(path)) is not None  # by its path, too


@pytest.mark.parametrize("name", ["", "../x", "a b", "-x", "x" * 65])
def test_a_name_that_is_none(tmp_path: Path, name: str) -> None:
    with pytest.raises(KeyFault) as caught:
        new_key(tmp_path, name)
    assert code_of(caught) == "bad-name"


def test_a_key_that_cannot_be_used_says_why(tmp_path: Path) -> None:
    with pytest.raises(KeyFault) as caught:
        open_key(tmp_path, "nobody")
    assert code_of(caught) == "key-missing"
    new_key(tmp_path, "mine")
    path = folder_of(tmp_path) / "mine.ed25519"
    path.chmod(0o640)
    with pytest.raises(KeyFault) as caught:
        open_key(tmp_path, "mine")
    assert code_of(caught) == "key-exposed"
    path.chmod(0o600)
    path.write_bytes(b"not a key")
    with pytest.raises(KeyFault) as caught:
        own_keys(tmp_path)
    assert code_of(caught) == "key-malformed"


def test_one_key_under_two_names_counts_once() -> None:
    with pytest.raises(KeyFault) as caught:
        own_root({"a": key(1), "b": key(1)}, 2)
    assert code_of(caught) == "threshold-not-met"
    with pytest.raises(KeyFault):
        own_root({"a": key(1)}, 0)
    root = own_root({"a": key(1), "b": key(2)}, 2, root="mine")
    assert (root.roles[0].threshold, len(root.keys)) == (2, 2)


def test_a_whole_catalog_is_counted_and_what_nobody_signed_is_named(signed: Path, tmp_path: Path) -> None:
    whole = verify_catalog(signed, home=tmp_path / "home", now=NOW)
    assert whole.ok
    assert whole.manifests == len(list((signed / "manifests").iterdir()))
    assert whole.plans == 1
    (signed / "executors" / "find_files" / "more.py").write_text("")
    (signed / "stray.txt").write_text("")
    found = verify_catalog(signed, home=None, now=NOW)
    assert [(one.name, one.diagnostic.code) for one in found.failed] == [
        ("executors/find_files/more.py", "file-unsigned"),
        ("stray.txt", "file-unsigned"),
    ]


def test_an_altered_code_file_and_a_lost_trust_root_are_named(signed: Path) -> None:
    code = next(path for path in (signed / "executors" / "find_files").iterdir() if path.suffix == ".py")
    code.write_bytes(code.read_bytes() + b"\n")
    found = verify_catalog(signed, home=None, now=NOW)
    assert not found.ok
    assert {one.name for one in found.failed} == {"find_files"}
    (signed / "trust.json").unlink()
    lost = verify_catalog(signed, home=None, now=NOW)
    assert {one.diagnostic.code for one in lost.failed} == {"catalog-missing"}
