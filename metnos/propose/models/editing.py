"""`models.toml` changed by a command: read, changed, checked, written whole under a draft name.

Law: one change at a time, by a lock on the home folder. What is written is read again by the strict reader before it
takes the place of the old one. Comments are not kept; the first line says so.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import tomllib
from typing import TYPE_CHECKING, Any, Final

import msgspec

from metnos.drafts import drafted_beside
from metnos.propose.models.config import ADAPTERS, COMMON, MODELS_FILE, ModelConfig, models_from, read_models
from metnos.propose.models.ports import ROLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from metnos.propose.models.config import ModelsConfig
    from metnos.propose.models.ports import Role

HEAD: Final = "# Written by `metnos model`, which keeps no comments. How to write it by hand: docs/models.md\n"


def change(home: Path, how: Callable[[ModelsConfig], ModelsConfig]) -> ModelsConfig:
    """Replace what `home` has configured by what `how` makes of it.

    Raises:
        ConfigFault: What was there does not hold, or what came of it.
        OSError: What the system says.
    """
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        text = written(how(read_models(home)), home)
        changed = models_from(tomllib.loads(text), home)
        path = home / MODELS_FILE
        with drafted_beside(path) as (draft, handle):
            with os.fdopen(handle, "wb", closefd=False) as file:
                file.write(text.encode())
                file.flush()
                os.fsync(handle)
            draft.replace(path)
        return changed
    finally:
        os.close(lock)


def with_model(config: ModelsConfig, model: ModelConfig, roles: Iterable[Role], *, first: bool) -> ModelsConfig:
    """`config` with `model` (in the place of one of its name), asked first or last by each of `roles`."""
    held = dict(config.roles)
    for role in roles:
        others = tuple(one for one in held.get(role, ()) if one != model.name)
        held[role] = (model.name, *others) if first else (*others, model.name)
    return msgspec.structs.replace(config, models={**config.models, model.name: model}, roles=held)


def without_model(config: ModelsConfig, name: str) -> ModelsConfig:
    """`config` without the model, in its roles too."""
    roles = {role: tuple(one for one in names if one != name) for role, names in config.roles.items()}
    models = {key: one for key, one in config.models.items() if key != name}
    return msgspec.structs.replace(config, models=models, roles={role: names for role, names in roles.items() if names})


def written(config: ModelsConfig, home: Path) -> str:
    """As it stands in the file."""
    lines = [HEAD]
    for name, model in config.models.items():
        lines.append(f"[models.{_key(name)}]")
        lines += [f"{key} = {_value(value)}" for key, value in _fields(model, home)]
        lines.append("")
    if config.roles:
        lines.append("[roles]")
        lines += [f"{role} = {_value(list(config.roles[role]))}" for role in ROLES if role in config.roles]
    return "\n".join(lines).rstrip("\n") + "\n"


def _fields(model: ModelConfig, home: Path) -> Iterable[tuple[str, Any]]:
    """What is not as if it were left out."""
    takes = ADAPTERS[model.adapter]
    defaults = ModelConfig(name="", adapter=model.adapter)
    for key in (COMMON[0], *takes.needs, *takes.may, *COMMON[1:]):
        value = getattr(model, key)
        if key == "file":
            yield key, str(value.relative_to(home) if value.is_relative_to(home) else value)
        elif key == "price" and value != defaults.price:
            yield key, {one: rate for one, rate in msgspec.to_builtins(value).items() if rate is not None}
        elif key == "adapter" or value != getattr(defaults, key):
            yield key, value


def _key(name: str) -> str:
    return name if name.replace("-", "").replace("_", "").isalnum() and name.isascii() else _text(name)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case float():
            return repr(value) if math.isfinite(value) else str(value)
        case int():
            return str(value)
        case dict():
            return "{ " + ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items()) + " }"  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        case list() | tuple():
            return "[" + ", ".join(_value(one) for one in value) + "]"  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value.isoformat()  # a date or a time of an option
