"""Runners: one started step in, one `StepOutcome` out. Where it runs is the contract's placement.

Law: final arguments only; no plan, no cache, no policy is known here. A step that was started always gets exactly
one outcome, and no exception passes but those that end the process (`KeyboardInterrupt`) or the awaiting task, and
`RuntimeError` for a call after `close`.

Concurrency:

- `run_now` runs in the calling thread: inline transforms and synchronous functions of the host. No event loop, no
  thread, and no deadline either: Python cannot interrupt a function, so its timeout is told (`ctx.deadline`), not kept.
- `run` never blocks the loop for long: coroutine functions run on it, under their timeout; synchronous functions run
  in a daemon thread, up to 32 at once; workers are waited for in daemon threads, one request at a time each, as many
  as there are processors. Only inline transforms run on the loop itself: pure work on data that is already here.
- Stopping: a worker is killed and a coroutine cancelled at once. A thread cannot be stopped: a read is abandoned
  (its result is thrown away); for an effect the outcome is waited for, because it alone says what was done.
- `run` may be awaited from any number of tasks and loops; the same (turn, step) must not run twice at once.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from metnos.execute.border import Border
from metnos.execute.code import CodeFault
from metnos.execute.faults import VaultFault
from metnos.execute.grant import Grant
from metnos.execute.here import HereContext
from metnos.execute.outcome import STOPPED, StepOutcome, failed
from metnos.execute.prepared import Prepared
from metnos.execute.wire import NOT_MADE
from metnos.execute.witness import changed
from metnos.sdk import Effect, Result
from metnos.turn.commands import StartStep

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Mapping
    from concurrent.futures import Future

    from metnos.contracts.model import Contract
    from metnos.execute.here import Progress
    from metnos.execute.prepared import External, Source
    from metnos.execute.secrets import Sealer
    from metnos.execute.threads import Threads
    from metnos.execute.workers import WorkerPool
    from metnos.turn.commands import ProbeEffect

_HOST_THREADS = 32
_SCALARS = frozenset((str, int, float, bool, NoneType))
"""What nobody can change."""


class Probed(NamedTuple):
    """What a probe found; with the outcome, as `run` would have given it, if the effect was made."""

    found: Literal["done", "absent", "unknown"]
    outcome: StepOutcome | None = None


class Runners:
    """Runs steps of one catalog. Nothing is started before it is needed (or `prestart`)."""

    def __init__(
        self,
        catalog: Source,
        *,
        sealer: Sealer | None = None,
        externals: Mapping[str, External | Callable[[dict[str, Any], Any], Any]] | None = None,
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Take a catalog.

        Args:
            catalog: gives verified code by name, and registered functions.
            sealer: of this installation; left out, secrets are kept in memory.
            externals: name → `call(args, ctx)` for contracts that bring neither code nor function (stand-ins), or an
                `External` (clients of other protocols), which says where its results come from and what they must be.
            workers: most worker processes; left out, as many as processors.
            progress: called with (step, done, total, note), from any thread.
        """
        self._catalog = catalog
        self._externals = dict(externals or {})
        self._progress = progress
        self._most_workers = workers
        self._given_sealer = sealer
        self._border = Border(self._sealer)
        self._prepared: dict[str, Prepared] = {}
        self._running: dict[tuple[str, str], Callable[[], None]] = {}
        self._pool: WorkerPool | None = None
        self._threads: dict[str, Threads] = {}
        self._closed = False

    # --- what the driver calls ---------------------------------------------------------------------------------

    def is_synchronous(self, command: StartStep, contract: Contract) -> bool:
        """Whether `run_now` can run this step: it is inline, or a synchronous function."""
        prepared = self._prepared.get(command.executor)
        if prepared is None:
            found = self._prepare(command.executor, contract)
            return not isinstance(found, Prepared) or found.how in ("inline", "host")
        return prepared.how == "inline" or prepared.how == "host"

    def run_now(self, command: StartStep, contract: Contract, grant: Grant) -> StepOutcome:
        """Run an inline transform or a synchronous function, here and now.

        Raises:
            ValueError: the step needs `run` (ask `is_synchronous` first).
        """
        prepared = self._prepared.get(command.executor)
        if prepared is None:
            found = self._prepare(command.executor, contract)
            if not isinstance(found, Prepared):
                return found
            prepared = found
        how = prepared.how
        if (how != "host" and how != "inline") or prepared.call is None:
            raise ValueError(f"{command.executor} cannot run in this thread")
        return self._call(prepared, command, grant)

    async def run(self, command: StartStep, contract: Contract, grant: Grant) -> StepOutcome:
        """Run any step to its outcome.

        Cancelling the awaiting task stops the step, then the cancellation goes on.
        """
        prepared = self._prepared.get(command.executor) or self._prepare(command.executor, contract)
        if not isinstance(prepared, Prepared):
            return prepared
        if prepared.how == "inline":
            return self._call(prepared, command, grant)
        if prepared.how == "async_host":
            return await self._on_loop(prepared, command, grant)
        if prepared.how == "host":
            return await self._in_thread(prepared, command, grant)
        if command.expects:
            import asyncio

            path = await asyncio.to_thread(changed, grant, command.expects)
            if path is not None:
                message = "it is not what it was when you were asked; nothing was done to it"
                return failed("conflict", "changed-since", message, where=path, hint="look at it, then ask again")
        return await self._in_worker(prepared, command, grant)

    async def probe(self, command: ProbeEffect, contract: Contract, grant: Grant) -> Probed:
        """Look whether an operation that was cut off was made; nothing is changed by looking.

        Only workers are asked: `unknown` for what runs elsewhere, and whenever the probe fails.
        """
        prepared = self._prepared.get(command.executor) or self._prepare(command.executor, contract)
        if not isinstance(prepared, Prepared) or prepared.how != "worker":
            return Probed("unknown")
        looking = StartStep(
            step=command.step, operation=command.operation, executor=command.executor, args=command.args, digest="",
            effect="read", placement=contract.placement, timeout_s=contract.limits.timeout_s,
        )  # fmt: skip
        outcome = await self._in_worker(prepared, looking, grant, probe=True)
        if outcome.status == "finished":
            return Probed("done", outcome)
        return Probed("absent" if outcome.error is not None and outcome.error.code == NOT_MADE else "unknown")

    async def aside(self, call: Callable[[], Any]) -> Any:
        """What a plain function of the host's gives, called in a thread: see `Threads.aside`."""
        return await self._get_threads("asked", _HOST_THREADS).aside(call)

    def stop(self, turn: str, step: str) -> None:
        """Stop a running step, from any thread; its `run` returns the outcome. Unknown steps are ignored."""
        stopper = self._running.get((turn, step))
        if stopper is not None:
            stopper()

    def prestart(self, workers: int = 1) -> None:
        """Start worker processes in the background, so that planning hides the time they take."""
        self._workers().prestart(workers)

    async def close(self) -> None:
        """Stop what runs, end the workers; afterwards nothing runs any more."""
        import asyncio

        self._stop_all()
        await asyncio.sleep(0)
        self.close_now()

    def close_now(self) -> None:
        """`close` without a loop: workers are killed at once."""
        self._closed = True
        self._stop_all()
        if self._pool is not None:
            self._pool.close()
        for threads in self._threads.values():
            threads.close()

    def _stop_all(self) -> None:
        for stopper in list(self._running.values()):
            with suppress(RuntimeError):  # its loop is closed
                stopper()

    # --- in this process -----------------------------------------------------------------------------------------

    def _call(self, prepared: Prepared, command: StartStep, grant: Grant) -> StepOutcome:
        assert prepared.call is not None
        args = command.args
        context = HereContext(command, grant, self._progress)
        try:
            returned = prepared.call(args if prepared.how == "inline" else _own(args), context)
        except KeyboardInterrupt:
            raise
        except BaseException as fault:  # noqa: BLE001 - the executor's code: whatever it raises is its failure
            return self._border.raised(fault, args)
        finally:
            if context.opened is not None:
                context.opened.close()
        return told(self._border.receive(returned, prepared, args), prepared, command, returned)

    async def _on_loop(self, prepared: Prepared, command: StartStep, grant: Grant) -> StepOutcome:
        import asyncio

        assert prepared.call is not None
        context = HereContext(command, grant, self._progress)
        call: Callable[[Any, Any], Awaitable[Any]] = prepared.call
        task = asyncio.current_task()
        assert task is not None
        loop = asyncio.get_running_loop()
        key = (grant.turn, command.step)
        asked = False

        def cancel() -> None:
            nonlocal asked
            if self._running.get(key) is stop:  # on the loop's thread: it may have ended since it was asked
                asked = True
                task.cancel()

        def stop() -> None:
            loop.call_soon_threadsafe(cancel)

        self._running[key] = stop
        try:
            async with asyncio.timeout(command.timeout_s):
                returned = await call(_own(command.args), context)
        except asyncio.CancelledError as fault:
            if asked and task.uncancel() <= 0:
                return STOPPED
            if task.cancelling():
                raise
            return self._border.raised(fault, command.args)  # nobody cancelled this task: it is the host's own
        except (KeyboardInterrupt, GeneratorExit):  # of the process; of the loop, which gives this task up
            raise
        except BaseException as fault:  # noqa: BLE001 - the host's code: whatever it raises is its failure
            return self._border.raised(fault, command.args)
        finally:
            del self._running[key]
            if context.opened is not None:
                context.opened.close()
        return told(self._border.receive(returned, prepared, command.args), prepared, command, returned)

    async def _in_thread(self, prepared: Prepared, command: StartStep, grant: Grant) -> StepOutcome:
        import asyncio

        future = self._get_threads("host", _HOST_THREADS).submit(lambda: self._call(prepared, command, grant))
        stopped = asyncio.get_running_loop().create_future()
        waited = asyncio.wrap_future(future)
        key = (grant.turn, command.step)
        self._running[key] = _stopper(future, stopped)
        timeout = command.timeout_s if command.effect == "read" else None
        try:
            await asyncio.wait([waited, stopped], timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if stopped.done() and not waited.done():
                if waited.cancelled() or command.effect == "read":
                    return STOPPED
                await asyncio.wait([waited])
            if not waited.done():
                return failed("timeout", "step-timeout", f"no result after {command.timeout_s:g} s", retryable=True)
            return STOPPED if waited.cancelled() else waited.result()
        finally:
            del self._running[key]
            stopped.cancel()
            if not waited.done():
                waited.cancel()

    # --- in a worker ---------------------------------------------------------------------------------------------

    async def _in_worker(
        self, prepared: Prepared, command: StartStep, grant: Grant, *, probe: bool = False
    ) -> StepOutcome:
        import asyncio

        from metnos.execute.border import unsealable
        from metnos.execute.stops import Stop
        from metnos.execute.workers import request_for

        sealer = self._sealer
        names = prepared.contract.opens_secrets
        key = (grant.turn, command.step)
        stop = Stop()
        pool = self._workers()
        progress = self._progress
        tell = None if progress is None else partial(progress, command.step)

        def work() -> StepOutcome:
            try:
                opened = sealer().opened_for(command.args, names) if names else {}
            except (VaultFault, OSError) as fault:
                return unsealable(fault)
            request = request_for(prepared, command, grant, opened, probe=probe)
            return pool.call(request, prepared, stop, tell).outcome(self._border, prepared, command.args)

        waited = asyncio.wrap_future(self._get_threads("workers", pool.most).submit(work))
        self._running[key] = stop.set
        try:
            return await asyncio.shield(waited)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait([waited])
            raise
        finally:
            del self._running[key]
            stop.close()

    # --- made when needed ----------------------------------------------------------------------------------------

    def _prepare(self, reference: str, contract: Contract) -> Prepared | StepOutcome:
        try:
            prepared = Prepared(contract, self._catalog)
        except (CodeFault, KeyError) as fault:
            return self._border.refuse(failed("internal", "executor-broken", str(fault)), {})
        if prepared.how == "none":
            external = self._externals.get(contract.name)
            if external is None:
                hint = "no client for it is connected"
                return failed("unavailable", "no-runner", f"nothing here runs {contract.name}", hint=hint)
            prepared.take(external)
        self._prepared[reference] = prepared
        return prepared

    def _sealer(self) -> Sealer:
        if self._given_sealer is None:
            from metnos.execute.secrets import Sealer
            from metnos.execute.vault import MemoryVault

            self._given_sealer = Sealer(MemoryVault())
        return self._given_sealer

    def _workers(self) -> WorkerPool:
        if self._pool is None:
            from metnos.execute.workers import WorkerPool

            self._pool = WorkerPool(self._most_workers)
        return self._pool

    def _get_threads(self, name: str, most: int) -> Threads:
        threads = self._threads.get(name)
        if threads is None:
            from metnos.execute.threads import Threads

            threads = self._threads[name] = Threads(f"metnos-{name}", most)
        return threads


def _own(args: dict[str, Any]) -> dict[str, Any]:
    """Arguments that a host may change: those of the command are the plan's literals and the results of other steps."""
    if _SCALARS.issuperset(map(type, args.values())):
        return args.copy()
    return {
        name: msgspec.to_builtins(value) if isinstance(value, list | dict) else value for name, value in args.items()
    }


def told(outcome: StepOutcome, prepared: Prepared, command: StartStep, returned: object) -> StepOutcome:
    """The outcome of a host's function, with its effect named.

    A function that returns plain data gives no receipt; that it returned is what is known of its effect. One that
    returns a `Result` says itself what it did, also that it did nothing.
    """
    if command.effect == "read" or outcome.status != "finished" or isinstance(returned, Result):
        return outcome
    named = [value for name in prepared.contract.targets if isinstance(value := command.args.get(name), str)]
    effects = tuple(Effect(cls=command.effect, target=target) for target in named or [prepared.contract.name])
    return msgspec.structs.replace(outcome, effects=effects)


def _stopper(future: Future[Any], stopped: asyncio.Future[None]) -> Callable[[], None]:
    loop = stopped.get_loop()

    def mark() -> None:
        if not stopped.done():
            stopped.set_result(None)

    def stop() -> None:
        future.cancel()  # only one that has not begun
        loop.call_soon_threadsafe(mark)

    return stop


__all__ = ["Grant", "Runners", "StepOutcome"]
