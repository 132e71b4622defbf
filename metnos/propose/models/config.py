"""`METNOS_HOME/models.toml`: which models there are, and which of them each role asks, in order.

    [models.qwen]
    adapter = "llama"
    file = "models/qwen2.5-coder-1.5b.gguf"      # below the home, or absolute
    [models.big]
    adapter = "openai"
    url = "https://models.example/v1"
    model = "big-1"
    key_env = "BIG_KEY"                          # the name of a variable; a key is never written down
    price = { input = 0.5, output = 1.5, currency = "EUR" }     # per million tokens
    [roles]
    middle = ["qwen", "big"]

Law: read strictly, every fault in one pass, none of them quoting a value that may be a secret. A table says what each
adapter needs and takes. A role that names no model uses those of the roles beside it (`BESIDE`); `frontier` has none
beside it and stands beside none: it is asked only where somebody says so. Opens no model.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

import msgspec

from metnos import plainfile
from metnos.plan.diagnostics import Diagnostic
from metnos.propose.models.fields import FIELDS, MODEL_NAME, Price, is_bare, kind_of, shown
from metnos.propose.models.ports import ROLES, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

MODELS_FILE: Final = "models.toml"
MOST_BYTES: Final = 32 * 1024
IDLE_S: Final = 120.0
CONTEXT: Final = 4096

Adapter = Literal["llama", "openai", "scripted", "recorded"]


class Takes(NamedTuple):
    """Fields of an adapter beside those that every model has."""

    needs: tuple[str, ...]
    may: tuple[str, ...] = ()


ADAPTERS: Final[dict[Adapter, Takes]] = {
    "llama":    Takes(("file",), ("sha256", "threads")),
    "openai":   Takes(("url", "model"), ("key_env", "key_over_http")),
    "scripted": Takes(("file",)),
    "recorded": Takes(("file",), ("of",)),
}  # fmt: skip
COMMON: Final = ("adapter", "context", "idle_s", "deadline_s", "price", "options")

BESIDE: Final[dict[Role, tuple[Role, ...]]] = {
    "fast": ("middle", "wise"),
    "middle": ("wise", "fast"),
    "wise": ("middle", "fast"),
    "creative": ("wise", "middle", "fast"),
    "frontier": (),
}
"""Role → the roles whose models it uses while it names none: the next better first, then the next smaller."""


class ModelConfig(msgspec.Struct, frozen=True, kw_only=True):
    """One model."""

    name: str
    adapter: Adapter
    file: Path | None = None
    """Absolute: weights (llama), answers (scripted), recording (recorded)."""
    sha256: str = ""
    """Of `file`; empty: whatever is there is used."""
    url: str = ""
    """Base of an OpenAI-compatible server, its `/v1` included."""
    model: str = ""
    """As that server calls it."""
    key_env: str = ""
    """Name of the environment variable that holds the key; empty: none is sent."""
    key_over_http: bool = False
    """Whether the key may go to another machine without TLS."""
    of: str = ""
    """Name of the model that `recorded` asks and writes down; empty: it only plays back."""
    context: int = CONTEXT
    """Tokens of prompt and answer together."""
    threads: int | None = None
    """None: as many as there are cores."""
    idle_s: float = IDLE_S
    """Seconds without a token after which a call is given up."""
    deadline_s: float | None = None
    """Seconds that one call may take; None: as long as the caller allows."""
    price: Price = Price()
    options: dict[str, Any] = {}
    """As the adapter takes them; for `openai` further fields of the request."""


class ModelsConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file."""

    models: dict[str, ModelConfig] = {}
    roles: dict[Role, tuple[str, ...]] = {}
    """As they stand there, without those beside them."""

    def of_role(self, role: Role) -> tuple[str, ...]:
        """Names of the models that `role` asks, in order; empty if there are none."""
        for one in (role, *BESIDE[role]):
            if self.roles.get(one):
                return self.roles[one]
        return ()


class ConfigFault(Exception):
    """`models.toml` does not hold. `diagnostics` has every fault; the rest is the first one's."""

    def __init__(self, path: Path, diagnostics: tuple[Diagnostic, ...]) -> None:
        first = diagnostics[0]
        self.code = "bad-models"
        self.message = first.found + (f"; expected: {first.expected}" if first.expected else "")
        if len(diagnostics) > 1:
            self.message += f" (and {len(diagnostics) - 1} more)"
        super().__init__(self.message)
        self.path = path
        self.where = f"{path}{first.where}"
        self.hint = first.hint
        self.diagnostics = diagnostics


def read_models(home: Path) -> ModelsConfig:
    """What `home` has configured; nothing if it has no such file.

    Raises:
        ConfigFault: It cannot be read, or does not hold.
    """
    path = home / MODELS_FILE
    try:
        text = plainfile.read(path, MOST_BYTES).decode()
        data = tomllib.loads(text)
    except FileNotFoundError:
        return ModelsConfig()
    except OSError as fault:
        what = fault.strerror or str(fault)
        raise ConfigFault(path, (_bad("", what, "a plain file that you can read", ""),)) from fault
    except UnicodeDecodeError as fault:
        raise ConfigFault(path, (_bad("", "it is not UTF-8", "TOML in UTF-8", ""),)) from fault
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise ConfigFault(path, (_bad("", str(fault), "TOML 1.0", "mend the line that is named"),)) from fault
    return models_from(data, home)


def models_from(data: dict[str, Any], home: Path) -> ModelsConfig:
    """The same of what stands in the file.

    Raises:
        ConfigFault: It does not hold.
    """
    faults: list[Diagnostic] = [
        _bad(f"/{key}", "no such table", "`models` and `roles`", "") for key in data if key not in ("models", "roles")
    ]
    models: dict[str, ModelConfig] = {}
    for name, fields in _tables(data, "models", faults):
        found = [*_faults_of(name, fields)]
        faults += found
        if not found:
            models[name] = _config(name, fields, home)
    known = set(cast("dict[str, Any]", data["models"])) if isinstance(data.get("models"), dict) else set[str]()
    roles = _roles(data.get("roles", {}), known, faults)
    faults += _circles(models, known)
    if faults:
        raise ConfigFault(home / MODELS_FILE, tuple(faults))
    return ModelsConfig(models=models, roles=roles)


def _tables(data: dict[str, Any], key: str, faults: list[Diagnostic]) -> Iterator[tuple[str, dict[str, Any]]]:
    held = data.get(key, {})
    if not isinstance(held, dict):
        faults.append(_bad(f"/{key}", kind_of(held), "a table", f"begin it with [{key}.NAME]"))
        return
    for name, fields in cast("dict[str, Any]", held).items():
        if isinstance(fields, dict):
            yield name, fields
        else:
            faults.append(_bad(f"/{key}/{name}", kind_of(fields), "a table", f"begin it with [{key}.NAME]"))


def _faults_of(name: str, fields: dict[str, Any]) -> Iterator[Diagnostic]:
    at = f"/models/{name}"
    if not MODEL_NAME.fullmatch(name):
        yield _bad(at, "a name that is none", "small letters, digits, `.`, `_`, `-`; at most 64", "")
    adapter = fields.get("adapter")
    if not isinstance(adapter, str) or adapter not in ADAPTERS:
        found = f"the adapter {adapter!r}" if isinstance(adapter, str) else "no adapter"
        yield _bad(f"{at}/adapter", found, ", ".join(ADAPTERS), "")
        return
    takes = ADAPTERS[adapter]
    for key in takes.needs:
        if key not in fields:
            yield _bad(f"{at}/{key}", "nothing", FIELDS[key].expected, f"the adapter {adapter} needs it")
    for key, value in fields.items():
        if key not in (*COMMON, *takes.needs, *takes.may):
            yield _unknown(at, key, adapter)
        elif key != "adapter" and not FIELDS[key].holds(value):
            yield _bad(f"{at}/{key}", shown(key, value), FIELDS[key].expected, "")
    yield from _bare_key(at, fields)


def _unknown(at: str, key: str, adapter: str) -> Diagnostic:
    if "key" in key.lower() or "token" in key.lower():
        hint = 'a key is not written down here: `key_env = "NAME"` names the variable that holds it'
        return _bad(f"{at}/{key}", "a key in a file", "the name of an environment variable", hint)
    takes = ADAPTERS[cast("Adapter", adapter)]
    return _bad(f"{at}/{key}", "no such field", ", ".join((*takes.needs, *takes.may, *COMMON[1:])), "")


def _bare_key(at: str, fields: dict[str, Any]) -> Iterator[Diagnostic]:
    url = fields.get("url")
    if fields.get("key_env") and fields.get("key_over_http") is not True and is_bare(url):
        hint = "use https, or say `key_over_http = true` where the network is your own"
        yield _bad(f"{at}/url", "a key would go to another machine without TLS", "https://…", hint)


def _config(name: str, fields: dict[str, Any], home: Path) -> ModelConfig:
    given = dict(fields)
    if "file" in given:
        given["file"] = home / Path(given["file"]).expanduser()
    if "price" in given:
        given["price"] = msgspec.convert(given["price"], Price)
    for key in ("idle_s", "deadline_s"):
        if key in given:
            given[key] = float(given[key])
    return ModelConfig(name=name, **given)


def _roles(held: Any, known: set[str], faults: list[Diagnostic]) -> dict[Role, tuple[str, ...]]:
    found: dict[Role, tuple[str, ...]] = {}
    if not isinstance(held, dict):
        faults.append(_bad("/roles", kind_of(held), "a table", 'for example middle = ["NAME"]'))
        return found
    for role, names in cast("dict[str, Any]", held).items():
        at = f"/roles/{role}"
        if role not in ROLES:
            faults.append(_bad(at, f"the role {role!r}", ", ".join(ROLES), ""))
        elif not isinstance(names, list) or not all(isinstance(one, str) for one in cast("list[Any]", names)):
            faults.append(_bad(at, kind_of(names), 'names of models, for example ["NAME"]', ""))
        else:
            listed = tuple(cast("list[str]", names))
            for number, one in enumerate(listed):
                if one not in known:
                    there = ", ".join(sorted(known)) or "none is configured"
                    faults.append(_bad(f"{at}/{number}", f"the model {one!r}", there, ""))
                elif one in listed[:number]:
                    faults.append(_bad(f"{at}/{number}", f"{one!r} a second time", "each model once", ""))
            found[role] = listed
    return found


def _circles(models: dict[str, ModelConfig], known: set[str]) -> Iterator[Diagnostic]:
    """A recording is of a model that is there, and is no recording itself."""
    for name, one in models.items():
        if one.of and (one.of not in known or (one.of in models and models[one.of].adapter == "recorded")):
            yield _bad(f"/models/{name}/of", f"{one.of!r}", "a model that is configured and is no recording", "")


def _bad(where: str, found: str, expected: str, hint: str) -> Diagnostic:
    return Diagnostic(code="bad-models", where=where, found=found, expected=expected, hint=hint)
