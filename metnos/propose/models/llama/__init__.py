"""A model in this process: GGUF weights through llama.cpp, held to grammars by llguidance.

    model = open_model(config, state_folder=home / "models" / "states")
    with closing(model.session(prefix, stop=stop)) as session:
        session.ask("Which are the five largest files here?")
        session.decode(grammar, most_tokens=60)

Law: the only rooms that touch llama.cpp are `library` (its C interface, typed) and `model` (which opens it). `template`,
`watch`, `state`, `threads` know neither llama.cpp nor numpy, so they are tested without it. Nothing that llama.cpp
parses in C comes from a file that was not verified: weights by their pinned SHA-256 where there is one, kept states by
a MAC of this installation (docs/adr/0021).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from metnos.propose.models.llama.model import Config, LlamaModel


def open_model(config: Config, *, state_folder: Path | None) -> LlamaModel:
    """Load the weights; the first call pays for nothing else than what it evaluates.

    Args:
        config: `name`, `file`, `sha256`, `context`, `threads`.
        state_folder: Where states of prefixes are kept between processes; None: they are not.

    Raises:
        ModelFault: `model-missing`: no package, no file, other bytes than its SHA-256 says, or a kind of model that
            cannot be held to a grammar here; the hint says which and how to mend it.
    """
    from metnos.propose.models.llama.model import LlamaModel

    return LlamaModel(config, state_folder=state_folder)
