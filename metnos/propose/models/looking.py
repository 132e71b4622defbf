"""Whether a configured model could be opened, without opening it: file, package, key.

Law: looks at this machine only; loads nothing and asks no server. No secret is returned.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from metnos.propose.models.ports import ModelFault
from metnos.settings import secret as read_secret

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.propose.models.config import ModelConfig

_PACKAGES = {"llama": ("llama_cpp", "llama"), "openai": ("openai", "models")}
"""Adapter → package, and the extra that brings it."""


def fault_of_model(model: ModelConfig, *, secret: Callable[[str], str | None] = read_secret) -> ModelFault | None:
    """What would keep it from being opened, as far as can be told from here; None: nothing."""
    package, extra = _PACKAGES.get(model.adapter, ("", ""))
    if package and find_spec(package) is None:
        return ModelFault("model-missing", f"the package {package} is not installed", f"pip install 'metnos[{extra}]'")
    if model.file is not None and not model.of and not model.file.is_file():
        return ModelFault("model-missing", f"{model.file} is not there", f"metnos model pull {model.name}")
    if model.key_env and not secret(model.key_env):
        return ModelFault("model-refused", f"the variable {model.key_env} is not set", f"export {model.key_env}=…")
    return None
