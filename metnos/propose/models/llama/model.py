"""A model of llama.cpp as the rest of `propose` sees it: sessions behind prefixes that are read once.

Law: the prefixes used last are kept in the context (`prefixes.py`) and shared by the sessions that begin with them; any
prefix is kept on disk for the next process. A session has a sequence of its own until it is closed; a fifth waits for one. The library is
freed when the model is closed and no session is open any more, never under one. The weights are trusted if their SHA-256
is the configured one; it is computed once for a file and remembered under what the system knows of that file.
"""

from __future__ import annotations

import threading
import time
from contextlib import closing, contextmanager
from hashlib import file_digest
from typing import TYPE_CHECKING, Any, Final, Protocol

from metnos.propose.models.llama import template
from metnos.propose.models.llama.library import SESSIONS, Library, missing
from metnos.propose.models.llama.prefixes import MOST, Prefixes
from metnos.propose.models.llama.session import LlamaSession
from metnos.propose.models.llama.state import States, named
from metnos.propose.models.llama.threads import physical_cores
from metnos.propose.models.ports import Completion, ModelFault, Usage

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from metnos.propose.models.ports import Message, Stop

KEPT: Final = 64
"""Tokens from which a prefix is worth a file."""
_WAIT_S: Final = 0.05
_PARAMS: Final = b"f16 unified swa-full"
"""What a state depends on beside weights, version and tokens."""


class Config(Protocol):
    """The fields of a model's configuration that are used here."""

    @property
    def name(self) -> str:
        """As it is called."""
        ...

    @property
    def file(self) -> Path | None:
        """GGUF."""
        ...

    @property
    def sha256(self) -> str:
        """Of the file; empty: whatever is there is used."""
        ...

    @property
    def context(self) -> int:
        """Tokens of prompt and answer together."""
        ...

    @property
    def threads(self) -> int | None:
        """None: as many as there are physical cores."""
        ...


class LlamaModel:
    """See `metnos.propose.models.ports.DecodingModel`. Safe between threads."""

    def __init__(self, config: Config, *, state_folder: Path | None) -> None:
        """Load; see `open_model`."""
        if config.file is None or not config.file.is_file():
            raise missing(f"there is no file {config.file}", f"`metnos model pull {config.name}` fetches known ones")
        self._name = config.name
        self._states = States(state_folder) if state_folder is not None else None
        self._path = config.file
        self._digest = ""
        if config.sha256 and self.digest != config.sha256:
            raise missing(
                f"{config.file.name} is not the file that was configured", "its SHA-256 differs; pull it anew"
            )
        self._threads = config.threads or physical_cores()
        self._library = Library(config.file, context=config.context, threads=self._threads)
        try:
            self._frame = self._framed()
        except BaseException:
            self._library.close()
            raise
        self._prefixes = Prefixes((0, *range(SESSIONS + 1, SESSIONS + MOST)), self._library.context)
        self._keeping = threading.Lock()
        self._free = threading.Condition()
        self._sequences = list(range(SESSIONS, 0, -1))
        self._closed = False
        self._tokenizer: Any = None
        self._making = threading.Lock()

    @property
    def name(self) -> str:
        """As the configuration calls it."""
        return self._name

    @property
    def digest(self) -> str:
        """SHA-256 of the weights, in hexadecimal. Reads all of them where nobody has yet."""
        if not self._digest:
            about = self._path.stat()
            same = (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
            name = named(b"file", *(str(one).encode() for one in (self._path.absolute(), *same)))
            held = self._states.load(name) if self._states else None
            if held is None:
                with self._path.open("rb") as file:
                    held = file_digest(file, "sha256").hexdigest().encode()
                if self._states:
                    self._states.save(name, held)
            self._digest = held.decode()
        return self._digest

    def count(self, text: str) -> int:
        """How many tokens `text` takes."""
        return len(self._library.tokens(text))

    # ---------------------------------------------------------------------------------------------- layout

    def _framed(self) -> tuple[template.Family, dict[str, int]]:
        library = self._library
        family = template.family_of(library.template())
        if family is None:
            known = ", ".join(one.name for one in template.FAMILIES)
            raise missing(f"the chat template of {self._path.name} is of no known family", f"known: {known}")
        controls: dict[str, int] = {}
        for mark in (family.begin, family.end):
            token = library.control(mark)
            if token is None or token in library.tokens(mark):
                raise missing(
                    f"{mark} is no control token of {self._path.name}", "use a model that was trained to chat"
                )
            controls[mark] = token
        return family, controls

    def _tokens(self, segments: Sequence[template.Segment]) -> list[int]:
        found: list[int] = []
        for one in segments:
            found += [self._frame[1][one.text]] if one.control else self._library.tokens(one.text)
        return found

    def _laid_out(self, text: str, within: bool) -> list[int]:
        return self._tokens(template.asked(self._frame[0], text, within=within))

    def _tokenizer_of(self) -> Any:
        with self._making:
            if self._tokenizer is None:
                self._tokenizer = self._library.tokenizer()
            return self._tokenizer

    # ---------------------------------------------------------------------------------------------- sessions

    def session(self, prefix: Sequence[Message], *, stop: Stop) -> LlamaSession:
        """Begin behind `prefix`; its state is kept between calls and processes.

        Raises:
            ModelFault: What `stop` says while the prefix is read, `model-context`, or the model is closed.
        """
        return self._begin(prefix, stop, keep=True)

    def _begin(self, prefix: Sequence[Message], stop: Stop, *, keep: bool) -> LlamaSession:
        begun = time.monotonic()
        sequence = self._taken(stop)
        try:
            tokens = [*self._library.first(), *self._tokens(template.told(self._frame[0], prefix))]
            cached = self._share(tokens, sequence, stop, keep=keep)
        except BaseException as fault:
            self._given_back(sequence)
            if isinstance(fault, ModelFault):
                fault.usage = Usage(seconds=time.monotonic() - begun)
            raise
        usage = Usage(tokens_in=len(tokens), tokens_cached=cached, seconds=time.monotonic() - begun)
        return LlamaSession(
            self._library,
            sequence,
            tokens,
            stop=stop,
            usage=usage,
            laid_out=self._laid_out,
            tokenizer=self._tokenizer_of,
            closed=self._given_back,
        )

    def _share(self, tokens: list[int], sequence: int, stop: Stop, *, keep: bool) -> int:
        """Give `sequence` the prefix; how many of its tokens needed no evaluation."""
        with self._kept_by(stop):
            if keep:
                place, cached = self._keep(tokens, stop)
                self._library.share(place, sequence, len(tokens))
                return cached
            nearest = self._prefixes.nearest(tokens)
            cached = nearest.alike
            self._library.share(nearest.sequence, sequence, cached)
        if cached < len(tokens):
            self._library.evaluate(sequence, tokens[cached:], cached, stop)
        return cached

    def _keep(self, tokens: list[int], stop: Stop) -> tuple[int, int]:
        """Have a sequence for prefixes begin with `tokens`: which one, and how many of them needed no evaluation."""
        place, alike, gone = self._prefixes.placed(tokens)
        if alike == len(tokens):
            self._prefixes.want(place)
            return place, alike
        for other in gone:
            self._library.forget(other, 0)
            self._prefixes.hold(other, ())
        name = self._state_name(tokens)
        if name and self._states and (state := self._states.load(name)) is not None:
            self._prefixes.hold(place, ())
            if self._library.restore(place, state, len(tokens)):
                self._prefixes.hold(place, tokens)
                return place, len(tokens)
            self._states.forget(name)
            alike = 0
        self._library.forget(place, alike)
        self._prefixes.hold(place, tokens[:alike])
        self._library.evaluate(place, tokens[alike:], alike, stop)
        self._prefixes.hold(place, tokens)
        if name and self._states:
            self._states.save(name, self._library.state(place))
        return place, alike

    def _state_name(self, tokens: Sequence[int]) -> str:
        if self._states is None or len(tokens) < KEPT:
            return ""
        numbers = b"".join(one.to_bytes(4, "big") for one in tokens)
        return named(self.digest.encode(), self._library.version.encode(), _PARAMS, numbers)

    @contextmanager
    def _kept_by(self, stop: Stop) -> Generator[None]:
        while not self._keeping.acquire(timeout=_WAIT_S):
            stop.look()
        try:
            yield
        finally:
            self._keeping.release()

    def _taken(self, stop: Stop) -> int:
        with self._free:
            while not self._sequences and not self._closed:
                self._free.wait(_WAIT_S)
                stop.look()
            if self._closed:
                raise missing(f"the model {self._name} is closed", "")
            self._library.watch.begin()
            return self._sequences.pop()

    def _given_back(self, sequence: int) -> None:
        self._library.forget(sequence, 0)
        with self._free:
            self._library.watch.end()
            self._sequences.append(sequence)
            self._free.notify()
            self._freed()

    # ---------------------------------------------------------------------------------------------- chat

    def complete(
        self,
        messages: Sequence[Message],
        *,
        most_tokens: int,
        stop: Stop,
        schema: dict[str, Any] | None = None,
    ) -> Completion:
        """Answer the last message, greedily.

        Raises:
            ModelFault: It gave no answer.
            ValueError: The last message is not the user's, or the schema cannot be followed.
        """
        if not messages or messages[-1].role != "user":
            raise ValueError("the last message is the user's")
        with closing(self._begin(messages[:-1], stop, keep=False)) as session:
            session.ask(messages[-1].content)
            text, whole = session.complete(most_tokens=most_tokens, schema=schema)
            finish = "stop" if whole else "length"
            return Completion(text=text, usage=session.usage, model=self._name, finish=finish)

    def close(self) -> None:
        """Give back what it holds, as soon as no session is open; safe to repeat."""
        with self._free:
            self._closed = True
            self._free.notify_all()
            self._freed()

    def _freed(self) -> None:
        if self._closed and len(self._sequences) == SESSIONS:
            self._tokenizer = None  # it points into the library
            self._library.close()
