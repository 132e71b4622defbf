"""What calls touch outside, and which of them conflict.

Law:

1. A call claims resources: roots (paths), hosts, accounts, as its contract declares them. `()` touches nothing;
   None, undeclared or not yet resolved, may touch everything.
2. Two calls conflict if one of them has an effect and a claim of one may overlap a claim of the other. Paths are
   compared lexically: absolute, normalised; a folder overlaps all that lies below it.
3. Only an *earlier* unfinished call holds a call back; so nobody waits in a circle.

Claims of a call only shrink (from everything to what it really names), so what was clear stays clear.
"""

from __future__ import annotations

from posixpath import join, normpath
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, cast
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.contracts.model import Contract, Resource

Claim: TypeAlias = "tuple[str, str]"
"""(resource kind, path, host or account)."""
Claims: TypeAlias = "tuple[Claim, ...]"
Order: TypeAlias = "tuple[int, int]"
"""(step, item)."""
Waiting = TypeVar("Waiting")
"""Whatever is held back by a claim."""
Bucket: TypeAlias = "dict[Order, bool]"
"""Who claims it → whether with an effect."""

MAX_CLAIMS = 1_000
"""A call that names more is taken to touch everything: cheaper, and never wrong."""


def absolute(path: str, folder: str) -> str:
    """`path` from `folder`, lexically absolute and normalised; symbolic links are not looked at."""
    found = normpath(join(folder, path))
    return found[1:] if found.startswith("//") else found


def default_of(contract: Contract, name: str) -> Any:
    """The default that the contract's schema gives an argument, or None."""
    properties = contract.args.get("properties")
    schema = as_object(properties).get(name) if isinstance(properties, dict) else None
    return as_object(schema).get("default") if isinstance(schema, dict) else None


def as_object(value: Any) -> dict[str, Any]:
    """`value`, which was seen to be a JSON object."""
    return cast("dict[str, Any]", value)


def as_list(value: Any) -> list[Any]:
    """`value`, which was seen to be a JSON list."""
    return cast("list[Any]", value)


def names_in(value: Any) -> list[str] | None:
    """The strings an argument names: a string, an entry with a `path`, or a list of these; None for anything else."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        path = as_object(value).get("path")
        return [path] if isinstance(path, str) else None
    if isinstance(value, list):
        names: list[str] = []
        for part in as_list(value):
            found = None if isinstance(part, list) else names_in(part)
            if found is None:
                return None
            names += found
        return names
    return None


def claims_of(contract: Contract, args: dict[str, Any], folder: str) -> Claims | None:
    """What a call with these resolved arguments touches; None: maybe everything."""
    if not contract.resources:
        return None if contract.resources is None else ()
    claims: list[Claim] = []
    for resource in contract.resources:
        names = _resource_names(contract, resource, args)
        if names is None or len(claims) + len(names) > MAX_CLAIMS:
            return None
        claims += [(resource.kind, _spelled(resource.kind, name, folder)) for name in names]
    return tuple(claims) or None


def outside(claims: Claims | None, roots: tuple[str, ...]) -> str | None:
    """The first path of `claims` that lies below none of `roots`, lexically; None: they all do."""
    for kind, path in claims or ():
        if kind == "root" and not any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots):
            return path
    return None


def _resource_names(contract: Contract, resource: Resource, args: dict[str, Any]) -> list[str] | None:
    if resource.arg is None:
        return None if resource.value is None else [resource.value]
    value = args.get(resource.arg)
    if value is None:
        value = default_of(contract, resource.arg)
    if value is None and any(resource.arg in group for group in contract.requires_one_of):
        return []  # another argument of the group was given instead
    return names_in(value)


def _spelled(kind: str, name: str, folder: str) -> str:
    if kind == "root":
        return absolute(name, folder)
    if kind == "host" and "://" in name:
        return urlsplit(name).hostname or name
    return name.casefold()


def targets_of(contract: Contract, args: dict[str, Any], folder: str) -> tuple[str, ...]:
    """What a call acts on, as a person is asked about it; paths absolute."""
    roots = {resource.arg for resource in contract.resources or () if resource.kind == "root"}
    return tuple(
        absolute(found, folder) if name in roots else found
        for name in contract.targets
        if (value := args.get(name)) is not None
        for found in names_in(value) or (str(value),)
    )


class Board(Generic[Waiting]):
    """Unfinished calls and steps that touch the outside, and who waits for whom."""

    def __init__(self) -> None:
        self._claims: dict[Order, Claims | None] = {}
        self._all: Bucket = {}
        self._everything: Bucket = {}
        self._exact: dict[Claim, Bucket] = {}
        self._below: dict[Claim, Bucket] = {}
        self._held: dict[Order, list[Waiting]] = {}

    def place(self, order: Order, claims: Claims | None, effect: bool) -> None:
        """Enter `order`, or enter it anew with fewer claims."""
        self.remove(order)
        self._claims[order] = claims
        self._all[order] = effect
        if claims is None:
            self._everything[order] = effect
            return
        for claim in claims:
            self._exact.setdefault(claim, {})[order] = effect
            for above in _above(claim):
                self._below.setdefault(above, {})[order] = effect

    def remove(self, order: Order) -> None:
        """Take `order` off; who waits for it is told by `release`."""
        if self._all.pop(order, None) is None:
            return
        self._everything.pop(order, None)
        for claim in self._claims.pop(order) or ():
            _drop(self._exact, claim, order)
            for above in _above(claim):
                _drop(self._below, above, order)

    def blocker(self, order: Order, claims: Claims | None, effect: bool) -> Order | None:
        """An unfinished call before `order` that conflicts with it, or None.

        The one that was entered last is preferred: of many calls on one place each then waits for its neighbour, and
        not all of them for the first.
        """
        if claims == ():
            return None
        for bucket in self._buckets(claims):
            for other in reversed(bucket):
                if other < order and (effect or bucket[other]):
                    return other
        return None

    def _buckets(self, claims: Claims | None) -> Iterator[Bucket]:
        if claims is None:
            yield self._all
            return
        if self._everything:
            yield self._everything
        for claim in claims:
            if claim in self._exact:
                yield self._exact[claim]
            if claim in self._below:
                yield self._below[claim]
            for above in _above(claim):
                if above in self._exact:
                    yield self._exact[above]

    def hold(self, blocker: Order, waiting: Waiting) -> None:
        """`waiting` is looked at again when `blocker` is gone or claims less."""
        self._held.setdefault(blocker, []).append(waiting)

    def release(self, order: Order) -> list[Waiting]:
        """Who waited for `order`."""
        return self._held.pop(order, [])


def _above(claim: Claim) -> Iterator[Claim]:
    """The folders above a root's path, nearest first; hosts and accounts have none."""
    kind, path = claim
    if kind != "root":
        return
    while len(path) > 1:
        path = path[: path.rfind("/")] or "/"
        yield (kind, path)


def _drop(index: dict[Claim, Bucket], claim: Claim, order: Order) -> None:
    bucket = index.get(claim)
    if bucket is not None:
        bucket.pop(order, None)
        if not bucket:
            del index[claim]
