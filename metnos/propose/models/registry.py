"""Models by role: opened when first asked, one instance each, and the next of a role asked where one gives nothing.

    with Registry.open(settings) as models:
        role = models.role("middle")
        answer = role.complete(messages, most_tokens=200, stop=Stop(deadline_s=60))
        answer.by, answer.usage.cost, answer.tried

Law: it chooses which model is asked, never what. What a failed try cost is part of what the call cost. Safe between
threads; two registries, of one home too, share nothing. A model that cannot be opened is a `ModelFault` of the call
that wanted it, and is tried again by the next one: a file may have been pulled meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Generic, TypeGuard, TypeVar

import msgspec

from metnos.propose.models.config import ModelConfig, ModelsConfig, read_models
from metnos.propose.models.ports import ROLES, ChatModel, Completion, DecodingModel, ModelFault, Role, Stop, Usage
from metnos.settings import secret as read_secret

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Self

    from metnos.propose.models.ports import Message
    from metnos.settings import Settings

Secret = Callable[[str], str | None]
"""Name of a variable → its value, or None."""
T = TypeVar("T")
STATE: Final = "models/states"
"""Below the home: what models keep between processes."""


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """One model of a role that was asked in vain."""

    model: str
    """As the configuration calls it."""
    code: str
    message: str
    usage: Usage


class Answered(Completion, frozen=True, kw_only=True):
    """A completion, and how it came about. `usage` is that of the failed tries too."""

    by: str
    """The model that answered, as the configuration calls it; `model` is what it calls itself."""
    tried: tuple[Tried, ...] = ()


class Attempted(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """What a piece of work came to."""

    value: T
    by: str
    tried: tuple[Tried, ...] = ()

    @property
    def wasted(self) -> Usage:
        """What the failed tries cost."""
        return sum((one.usage for one in self.tried), Usage())


def decodes(model: ChatModel) -> TypeGuard[DecodingModel]:
    """Whether the model's next tokens can be held to a grammar."""
    return hasattr(model, "session")


class Registry:
    """The models of one home."""

    def __init__(self, config: ModelsConfig, home: Path, *, secret: Secret = read_secret) -> None:
        self.config = config
        self.home = home
        self._secret = secret
        self._lock = threading.Lock()
        self._models: dict[str, _Lazy] = {name: _Lazy(one, self) for name, one in config.models.items()}
        self._closed = False

    @classmethod
    def open(cls, settings: Settings, *, secret: Secret = read_secret) -> Registry:
        """What `settings.home` has configured; no model is opened yet.

        Raises:
            ConfigFault: `models.toml` does not hold.
        """
        return cls(read_models(settings.home), settings.home, secret=secret)

    def has(self, role: Role) -> bool:
        """Whether some model is configured that `role` would ask."""
        return bool(self.config.of_role(role))

    def role(self, role: Role) -> RoleModel:
        """The models of a role, as one.

        Raises:
            ModelFault: `model-missing`: the role has none, nor have those beside it.
        """
        if role not in ROLES:
            raise ModelFault("model-missing", f"there is no role {role!r}", f"one of {', '.join(ROLES)}")
        names = self.config.of_role(role)
        if not names:
            hint = f"metnos model add NAME --role {role}" if role == "frontier" else "metnos model pull NAME"
            raise ModelFault("model-missing", f"no model has the role {role}", hint)
        return RoleModel(role, tuple(self._models[name] for name in names))

    def model(self, name: str) -> ChatModel:
        """One model by its name in the configuration; it is opened by its first call.

        Raises:
            ModelFault: `model-missing`: none is called so.
        """
        return RoleModel(name, (self._named(name),))

    def opened(self, name: str) -> ChatModel:
        """The adapter itself, opened.

        Raises:
            ModelFault: None is called so, or it cannot be opened.
        """
        return self._named(name).get()

    def _named(self, name: str) -> _Lazy:
        if name not in self._models:
            there = ", ".join(self._models) or "none is configured"
            raise ModelFault("model-missing", f"no model is called {name!r}", f"there are: {there}")
        return self._models[name]

    def open_one(self, config: ModelConfig) -> ChatModel:
        """A new instance by the table of adapters."""
        if self._closed:
            raise RuntimeError("this registry is closed")
        try:
            return _ADAPTERS[config.adapter](self, config)
        except ModuleNotFoundError as fault:
            extra = "llama" if config.adapter == "llama" else "models"
            what = f"the package {fault.name} is not installed"
            raise ModelFault("model-missing", what, f"pip install 'metnos[{extra}]'") from fault

    @property
    def secret(self) -> Secret:
        """How a key is looked up."""
        return self._secret

    def close(self) -> None:
        """Close every model that was opened; safe to repeat."""
        self._closed = True
        for one in self._models.values():
            one.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Lazy:
    """One model: opened by the first that asks, once, whichever threads ask."""

    def __init__(self, config: ModelConfig, registry: Registry) -> None:
        self.config = config
        self._registry = registry
        self._lock = threading.Lock()
        self._model: ChatModel | None = None

    def get(self) -> ChatModel:
        with self._lock:
            if self._model is None:
                self._model = self._registry.open_one(self.config)
            return self._model

    def close(self) -> None:
        with self._lock:
            model, self._model = self._model, None
        if model is not None:
            model.close()


class RoleModel:
    """The models of a role as one `ChatModel`: the first that gives something usable answers."""

    def __init__(self, name: str, models: tuple[_Lazy, ...]) -> None:
        self._name = name
        self._models = models

    @property
    def name(self) -> str:
        """Of the role."""
        return self._name

    @property
    def names(self) -> tuple[str, ...]:
        """Its models, in the order in which they are asked."""
        return tuple(one.config.name for one in self._models)

    def attempt(self, work: Callable[[ChatModel, ModelConfig, Stop], T], *, stop: Stop) -> Attempted[T]:
        """Do `work` with the first model that does not fail in a way that another might not.

        Args:
            work: Is given the model, its configuration, and `stop` under that model's own limits; it is done anew,
                from its beginning, with the next model.
            stop: When all of it has to end.

        Raises:
            ModelFault: The last one's, with what all of them cost; its message names each.
        """
        tried: list[Tried] = []
        for lazy in self._models:
            config = lazy.config
            try:
                stop.look()
                limits = stop.within(deadline_s=config.deadline_s, idle_s=config.idle_s)
                value = work(lazy.get(), config, limits)
            except ModelFault as fault:
                tried.append(Tried(model=config.name, code=fault.code, message=fault.message, usage=fault.usage))
                if not fault.retryable or lazy is self._models[-1]:
                    raise _all_of(fault, tried) from fault
            else:
                return Attempted(value=value, by=config.name, tried=tuple(tried))
        raise AssertionError("a role has a model")  # the configuration says so

    def complete(
        self, messages: Sequence[Message], *, most_tokens: int, stop: Stop, schema: dict[str, Any] | None = None
    ) -> Answered:
        """As `ChatModel.complete`, by the first model that can.

        Raises:
            ModelFault: None could.
        """

        def ask(model: ChatModel, _config: ModelConfig, limits: Stop) -> Completion:
            return model.complete(messages, most_tokens=most_tokens, stop=limits, schema=schema)

        done = self.attempt(ask, stop=stop)
        said = done.value
        return Answered(
            text=said.text,
            usage=said.usage + done.wasted,
            model=said.model,
            finish=said.finish,
            by=done.by,
            tried=done.tried,
        )

    def close(self) -> None:
        """Nothing: its models are the registry's."""


def _all_of(last: ModelFault, tried: list[Tried]) -> ModelFault:
    """The last fault as that of the whole call."""
    said = "; ".join(f"{one.model}: {one.message}" for one in tried)
    usage = sum((one.usage for one in tried), Usage())
    return ModelFault(last.code, said, last.hint, usage)


# ------------------------------------------------------------------------------------------- adapters


def _llama(registry: Registry, config: ModelConfig) -> ChatModel:
    from metnos.propose.models.llama import open_model

    return open_model(config, state_folder=registry.home / STATE)


def _openai(registry: Registry, config: ModelConfig) -> ChatModel:
    from metnos.propose.models.openai import OpenAIModel

    return OpenAIModel(config, secret=registry.secret)


def _scripted(_registry: Registry, config: ModelConfig) -> ChatModel:
    from metnos.propose.models.scripted import ScriptedModel

    return ScriptedModel.from_file(config)


def _recorded(registry: Registry, config: ModelConfig) -> ChatModel:
    from metnos.propose.models.recorded import recorded

    assert config.file is not None
    return recorded(config.name, config.file, of=registry.opened(config.of) if config.of else None)


_ADAPTERS: Final[dict[str, Callable[[Registry, ModelConfig], ChatModel]]] = {
    "llama": _llama,
    "openai": _openai,
    "scripted": _scripted,
    "recorded": _recorded,
}
