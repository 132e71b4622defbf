"""llama.cpp's C interface as far as it is used, with types, locks and an early end.

Law: the only room that calls `llama_cpp`. One context, whose cells several sequences share: number 0 and those behind
the sessions' belong to whoever keeps prefixes, the others to one session each, and a copy between them costs no evaluation and no memory. One step is
computed at a time; who has to wait looks at its `Stop` meanwhile. After a step that was ended early the sequence is as
it was before. `llama_cpp` has no usable types: what comes from it is `Any` and goes no further than this file.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import threading
from collections import deque
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from metnos.propose.models.llama.prefixes import MOST
from metnos.propose.models.llama.watch import Watch
from metnos.propose.models.ports import ModelFault

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from metnos.propose.models.ports import Stop

INSTALL: Final = "pip install 'metnos[llama]' (builds from source: a C++ compiler and cmake)"
BATCH: Final = 256
"""Tokens of one step: small enough that a prompt tells now and then that it gets on."""
SESSIONS: Final = 4
"""Sessions that may be open at once on one model."""
_CONTROL: Final = 1 << 3
_WAIT_S: Final = 0.05
_ERROR: Final = 4  # GGML_LOG_LEVEL_ERROR


def missing(message: str, hint: str) -> ModelFault:
    """A model that is not there, or not usable."""
    return ModelFault("model-missing", message, hint)


@cache
def _binding() -> Any:
    try:
        with _patient():
            binding: Any = importlib.import_module("llama_cpp.llama_cpp")
    except ImportError as fault:
        raise missing("the package llama-cpp-python is not installed", INSTALL) from fault
    except (OSError, RuntimeError) as fault:  # its shared library does not load
        raise missing("the package llama-cpp-python does not load", f"build it anew: {INSTALL}") from fault
    binding.llama_log_set(_log(binding), None)
    binding.llama_backend_init()
    return binding


@contextmanager
def _patient() -> Generator[None]:
    """Threads that wait for each other at a barrier sleep, instead of spinning on the core that the last one needs.

    OpenMP's library reads the variable once, when it is loaded. On two cores with four other jobs a token took 65 ms so
    and 3,000 ms without; on idle cores it was not measured (docs/adr/0021).
    """
    name = "OMP_WAIT_POLICY"
    if name in os.environ:  # somebody has decided
        yield
        return
    os.environ[name] = "passive"
    try:
        yield
    finally:
        del os.environ[name]


_said: deque[str] = deque(maxlen=3)
_kept: list[Any] = []


def _log(binding: Any) -> Any:
    def listen(level: int, text: bytes, _data: Any) -> None:
        if level == _ERROR:
            _said.append(text.decode(errors="replace").strip())

    callback = binding.llama_log_callback(listen)
    _kept.append(callback)  # C holds no reference
    return callback


class Library:
    """Weights and one context. Close it."""

    def __init__(self, path: Path, *, context: int, threads: int) -> None:
        """Load.

        Args:
            path: GGUF.
            context: Tokens of all sequences together; at most what the model was trained for is used.
            threads: That compute.

        Raises:
            ModelFault: `model-missing`.
        """
        self._llama = _binding()
        self.version = str(self._llama.llama_version().decode())
        self.watch = Watch(threads)
        self._turn = threading.Lock()
        self._model = self._load(path)
        self._context: Any = None
        try:
            self._prepare(path, context, threads)
        except BaseException:
            self.close()
            raise

    def _load(self, path: Path) -> Any:
        params = self._llama.llama_model_default_params()
        params.n_gpu_layers = 0
        params.use_extra_bufts = False  # repacking the weights takes seconds at each start (docs/adr/0021)
        _said.clear()
        model = self._llama.llama_model_load_from_file(str(path).encode(), params)
        if not model:
            raise missing(f"llama.cpp cannot read {path.name}" + "".join(f": {one}" for one in list(_said)[:1]), "")
        return model

    def _prepare(self, path: Path, context: int, threads: int) -> None:
        llama = self._llama
        if llama.llama_model_is_recurrent(self._model) or llama.llama_model_is_hybrid(self._model):
            raise missing(f"{path.name} keeps a state that cannot be rewound", "use a model of plain attention")
        self.vocab: Any = llama.llama_model_get_vocab(self._model)
        self.size = int(llama.llama_vocab_n_tokens(self.vocab))
        self.context = min(context, int(llama.llama_model_n_ctx_train(self._model)) or context)
        params = llama.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = self.context, BATCH, BATCH
        params.n_seq_max, params.kv_unified, params.swa_full = SESSIONS + MOST, True, True
        params.n_threads = params.n_threads_batch = threads
        params.no_perf = True
        self._context = llama.llama_init_from_model(self._model, params)
        if not self._context:
            raise missing(f"llama.cpp has no room for {self.context} tokens of {path.name}", "set a smaller `context`")
        function, argument = self.watch.asked
        llama.llama_set_abort_callback(self._context, ctypes.cast(function, llama.ggml_abort_callback), argument)
        self._memory = llama.llama_get_memory(self._context)
        self._batch = llama.llama_batch_init(BATCH, 0, 1)

    def template(self) -> str:
        """The chat template that the file carries; empty if it carries none."""
        found = self._llama.llama_model_chat_template(self._model, None)
        return found.decode(errors="replace") if found else ""

    # ---------------------------------------------------------------------------------------------- tokens

    def tokens(self, text: str) -> list[int]:
        """Of plain text: no part of it is read as a control token."""
        return self._tokenized(text, special=False)

    def control(self, text: str) -> int | None:
        """The one control token that `text` is; None: it is none."""
        found = self._tokenized(text, special=True)
        if len(found) != 1 or not self._llama.llama_vocab_get_attr(self.vocab, found[0]) & _CONTROL:
            return None
        return found[0]

    def _tokenized(self, text: str, *, special: bool) -> list[int]:
        data = text.encode("utf-8", errors="replace")
        room = len(data) + 8
        while True:
            held = (ctypes.c_int32 * room)()
            count = self._llama.llama_tokenize(self.vocab, data, len(data), held, room, False, special)
            if count >= 0:
                return list(held[:count])
            room = -count

    def piece(self, token: int) -> bytes:
        """The bytes of a token; none of a control token."""
        return self._piece(token, special=False)

    def _piece(self, token: int, *, special: bool) -> bytes:
        held = ctypes.create_string_buffer(256)
        count = self._llama.llama_token_to_piece(self.vocab, token, held, 256, 0, special)
        return held.raw[:count] if count >= 0 else b""

    def first(self) -> list[int]:
        """What the tokens of a conversation begin with, where the model was trained so."""
        if not self._llama.llama_vocab_get_add_bos(self.vocab):
            return []
        return [int(self._llama.llama_vocab_bos(self.vocab))]

    def ends(self, token: int) -> bool:
        """Whether an answer ends with this token."""
        return bool(self._llama.llama_vocab_is_eog(self.vocab, token))

    def tokenizer(self) -> Any:
        """llguidance's, over this vocabulary; takes half a second, and must not outlive this library."""
        from llguidance import LLTokenizer

        plain: Any = LLTokenizer
        raw: Any = self._llama._lib  # noqa: SLF001 - as llguidance itself does
        return plain.from_llamacpp(
            tokens=self._vocabulary(raw),
            vocab_ptr=self.vocab,
            tokenize_fptr=ctypes.cast(raw.llama_tokenize, ctypes.c_void_p).value,
            eos_token=int(self._llama.llama_vocab_eos(self.vocab)),
        )

    def _vocabulary(self, raw: Any) -> list[bytes]:
        """The bytes of every token, as llguidance takes them: 0xff before control tokens. Its own loop takes twice."""
        held = ctypes.create_string_buffer(4096)
        piece, kind, vocab, room = raw.llama_token_to_piece, raw.llama_vocab_get_attr, self.vocab, len(held)
        found: list[bytes] = []
        for token in range(self.size):
            text = ctypes.string_at(held, max(0, piece(vocab, token, held, room, 0, True)))
            named = text.startswith(b"<") and text.endswith(b">")
            attributes = kind(vocab, token)
            special = attributes & _CONTROL or (named and attributes & (1 << 4))
            found.append(b"\xff" + text if special else text)
        return found

    # ---------------------------------------------------------------------------------------------- evaluation

    @contextmanager
    def turn(self, stop: Stop) -> Generator[None]:
        """Nobody else computes meanwhile.

        Raises:
            ModelFault: `stop` said so while others computed.
        """
        while not self._turn.acquire(timeout=_WAIT_S):
            stop.look()
        try:
            yield
        finally:
            self._turn.release()

    def evaluate(self, sequence: int, tokens: Sequence[int], at: int, stop: Stop, *, last: int = 1) -> NDArray[Any]:
        """Read `tokens` as those of `sequence` from position `at` on.

        Args:
            sequence: Its number.
            tokens: At least one.
            at: How many it holds already.
            stop: When to end early.
            last: After how many of them, from the end, the scores are wanted; at most one batch.

        Returns:
            Scores of all tokens of the vocabulary (float32, `last` rows).

        Raises:
            ModelFault: `model-context`, or what `stop` and the watch say; the sequence then holds what it held.
        """
        self.hold(at + len(tokens))
        rows: list[NDArray[Any]] = []
        for begin in range(0, len(tokens), BATCH):
            part = tokens[begin : begin + BATCH]
            wanted = max(0, min(len(part), begin + len(part) - (len(tokens) - last)))
            try:
                with self.turn(stop), self.watch.over(stop):
                    rows += self._step(sequence, part, at + begin, wanted)
            except BaseException:
                self.forget(sequence, at)
                raise
        return np.stack(rows)

    def hold(self, tokens: int) -> None:
        """Make sure that so many tokens of one sequence have room, before any of them is read.

        Raises:
            ModelFault: `model-context`.
        """
        if tokens > self.context:
            raise self._too_long(tokens)

    def _step(self, sequence: int, tokens: Sequence[int], at: int, wanted: int) -> list[NDArray[Any]]:
        batch, count = self._batch, len(tokens)
        for index, token in enumerate(tokens):
            batch.token[index] = token
            batch.pos[index] = at + index
            batch.n_seq_id[index] = 1
            batch.seq_id[index][0] = sequence
            batch.logits[index] = index >= count - wanted
        batch.n_tokens = count
        _said.clear()
        told = self._llama.llama_decode(self._context, batch)
        if told == 1:
            raise self._too_long(at + count)
        if told:
            fault = self.watch.fault
            what = "; ".join(_said) or f"code {told}"
            raise fault or ModelFault("model-reply", f"llama.cpp could not evaluate a prompt: {what}")
        return [self._scores(index) for index in range(count - wanted, count)]

    def _scores(self, index: int) -> NDArray[Any]:
        held = self._llama.llama_get_logits_ith(self._context, index)
        return np.ctypeslib.as_array(held, shape=(self.size,)).copy()

    def _too_long(self, tokens: int) -> ModelFault:
        message = f"the prompt and its answer need {tokens} tokens, and the model takes {self.context}"
        return ModelFault("model-context", message, "set a larger `context`")

    def forget(self, sequence: int, at: int) -> None:
        """What `sequence` holds from position `at` on."""
        with self._turn:
            self._llama.llama_memory_seq_rm(self._memory, sequence, at, -1)

    def share(self, source: int, target: int, count: int) -> None:
        """Give `target`, which holds nothing, the first `count` tokens of `source`."""
        with self._turn:
            self._llama.llama_memory_seq_cp(self._memory, source, target, 0, count)

    def state(self, sequence: int) -> bytes:
        """All that `sequence` holds."""
        with self._turn:
            size = self._llama.llama_state_seq_get_size(self._context, sequence)
            held = (ctypes.c_uint8 * size)()
            written = self._llama.llama_state_seq_get_data(self._context, held, size, sequence)
        return bytes(memoryview(held)[:written])

    def restore(self, sequence: int, state: bytes, count: int) -> bool:
        """Give `sequence` a state of `count` tokens that `state` made; whether it took it."""
        held = (ctypes.c_uint8 * len(state)).from_buffer_copy(state)
        with self._turn:
            self._llama.llama_memory_seq_rm(self._memory, sequence, 0, -1)
            read = self._llama.llama_state_seq_set_data(self._context, held, len(state), sequence)
            top = self._llama.llama_memory_seq_pos_max(self._memory, sequence)
            if read == len(state) and top == count - 1:
                return True
            self._llama.llama_memory_seq_rm(self._memory, sequence, 0, -1)
        return False

    def close(self) -> None:
        """Free all of it; safe to repeat."""
        self.watch.close()
        with self._turn:
            if self._context:
                self._llama.llama_batch_free(self._batch)
                self._llama.llama_free(self._context)
            if self._model:
                self._llama.llama_model_free(self._model)
            self._context = self._model = None
