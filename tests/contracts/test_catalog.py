"""The catalog and the signatures drawn from it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from metnos.contracts.catalog import Admitted, Catalog, NameTaken
from metnos.contracts.foreign import foreign_contract
from metnos.contracts.functions import executor
from metnos.contracts.model import CodeFile, Contract, Intent
from metnos.contracts.signatures import executor_signature, family_signature
from metnos.request.model import RequestIntent

FIND = Intent("find", "files")
READ = Intent("read", "files")


def contract(name: str, **fields: Any) -> Contract:
    return Contract(name=name, version="1.0.0", digest=f"sha256:{name}", **fields)


def small() -> Catalog:
    return Catalog(
        [
            Admitted(contract=contract("read_files", families=(READ,)), code={"executor.py": b"r"}),
            Admitted(contract=contract("find_files", families=(FIND, READ)), code={"executor.py": b"f"}),
        ]
    )


@executor(version="1.0.0", effect="read")
def greet(name: str) -> str:
    return name


def test_contracts_are_found_by_name_and_by_family() -> None:
    catalog = small()
    assert catalog.names() == ("find_files", "read_files") == tuple(catalog.contracts())
    assert catalog.get("nothing") is None
    assert [one.name for one in catalog.in_family(READ)] == ["find_files", "read_files"]
    assert [one.name for one in catalog.in_family(RequestIntent(verb="find", object="files"))] == ["find_files"]
    assert catalog.in_family(Intent("write", "files")) == ()
    assert catalog.code("find_files") == {"executor.py": b"f"}
    with pytest.raises(KeyError):
        catalog.code("nothing")


def test_adding_makes_another_catalog() -> None:
    catalog = small()
    hosted = catalog.with_functions([greet])
    both = hosted.with_contracts([foreign_contract("weather")])
    assert catalog.names() == ("find_files", "read_files")
    assert both.names() == ("find_files", "greet", "read_files", "weather")
    assert both.function("greet") is greet
    assert both.function("weather") is None
    assert set(both.functions) == {"greet"}
    assert both.code("greet") == both.code("weather") == {}
    assert both.code("find_files") == {"executor.py": b"f"}
    assert len({catalog.digest, hosted.digest, both.digest}) == 3
    assert both.with_functions([]).digest == both.digest


def test_two_of_one_name_are_refused_at_registration() -> None:
    with pytest.raises(NameTaken, match="greet"):
        small().with_functions([greet, greet])
    with pytest.raises(NameTaken, match="find_files"):
        small().with_contracts([contract("find_files")])


def test_the_digest_is_over_names_digests_and_placement() -> None:
    assert small().digest == small().digest
    moved = Catalog([Admitted(contract=msgspec.structs.replace(contract("find_files"), placement="inline"))])
    assert moved.digest != Catalog([Admitted(contract=contract("find_files"))]).digest


def test_an_executor_signature_covers_code_and_distributions() -> None:
    file = CodeFile(name="executor.py", sha256="00", length=1)
    base = contract("a", files=(file,), distributions=("x@1", "y@2"))
    changes = [
        {"digest": "sha256:other"},
        {"version": "1.0.1"},
        {"files": (msgspec.structs.replace(file, sha256="01"),)},
        {"files": (msgspec.structs.replace(file, length=2),)},
        {"distributions": ("x@2", "y@2")},
    ]
    signatures = {executor_signature(msgspec.structs.replace(base, **change)) for change in changes}
    assert len(signatures | {executor_signature(base)}) == len(changes) + 1
    assert executor_signature(msgspec.structs.replace(base, distributions=("y@2", "x@1"))) == executor_signature(base)


def test_a_family_signature_sees_who_is_in_the_family_and_nobody_else() -> None:
    catalog = small()
    base = family_signature(catalog, [READ])
    assert family_signature(catalog, [READ, READ]) == base
    assert family_signature(catalog, [FIND, READ]) == family_signature(catalog, [READ, FIND])
    assert family_signature(catalog.with_functions([greet]), [READ]) == base
    rival = contract("read_files_fast", families=(READ,))
    assert family_signature(catalog.with_contracts([rival]), [READ]) != base
    assert family_signature(catalog, [READ], unavailable={"read_files"}) != base
    assert family_signature(catalog, [FIND]) != base
    moved = [msgspec.structs.replace(one, placement="inline") for one in catalog.in_family(READ)]
    assert family_signature(Catalog([Admitted(contract=one) for one in moved]), [READ]) != base
