"""The client for asyncio, which runs each call of the synchronous client in a new thread.

A cancelled call returns at once. Its thread continues to the end of the request, so the simulator does what it was
asked.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from functools import update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from reseller_sim.identity import Identity
from reseller_sim.sandbox import Hold, Rule, Sandbox
from reseller_sim.simulator import Simulator

__tracebackhide__ = True  # pytest shows the line of the test
P = ParamSpec("P")
T = TypeVar("T")
W = TypeVar("W")


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function in a new thread, which holds up neither the loop nor the end of the process."""
    done: Future[T] = Future()
    done.set_running_or_notify_cancel()  # a cancelled call does not stop its thread

    def run() -> None:
        try:
            done.set_result(function(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)

    threading.Thread(target=run, name="reseller-sim call", daemon=True).start()
    return await asyncio.wrap_future(done)


def awaited(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """Return an asynchronous method that calls a synchronous method on `self.sync`, in a new thread."""
    return awaited_as(lambda result: result, method)


def awaited_as(
    wrap: Callable[[T], W], method: Callable[Concatenate[Any, P], T]
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, W]]:
    """Return an asynchronous method like `awaited`, with the result wrapped."""

    async def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> W:
        return wrap(await in_thread(method, self.sync, *args, **kwargs))

    return update_wrapper(call, method)


class Opening(Generic[T]):
    """An object that is being opened: `await` it, or use it with `async with`, which also closes it."""

    def __init__(self, opening: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._opening = opening

    def __await__(self) -> Generator[Any, Any, T]:
        return self._opening().__await__()

    async def __aenter__(self) -> T:
        self._opened: Any = await self._opening()
        return self._opened

    async def __aexit__(self, *error: object) -> None:
        await self._opened.__aexit__(*error)


def opened(
    wrap: Callable[[T], W], method: Callable[Concatenate[Any, P], T]
) -> Callable[Concatenate[Any, P], Opening[W]]:
    """Return a method whose result is awaited or used with `async with`."""
    call = awaited_as(wrap, method)
    return update_wrapper(lambda self, /, *args, **kwargs: Opening(lambda: call(self, *args, **kwargs)), method)


class Closing(AbstractAsyncContextManager[T]):
    """An object whose `async with` ends as `with` of its synchronous object does."""

    sync: Any

    async def __aexit__(self, *error: object) -> None:
        await in_thread(self.sync.__exit__, *error)


class AsyncRule:
    """A rule that was added; `remove` deletes it."""

    def __init__(self, sync: Rule) -> None:
        self.id = sync.id
        self.sync = sync

    remove = awaited(Rule.remove)


class AsyncHold(Closing["AsyncHold"]):
    """A `Hold` whose calls are awaited."""

    def __init__(self, sync: Hold) -> None:
        self.name = sync.name
        self.sync = sync

    @property
    def waiting(self) -> Awaitable[list[dict[str, Any]]]:
        """The answers and deliveries that are held: `await held.waiting`."""
        return in_thread(lambda: self.sync.waiting)

    wait = awaited(Hold.wait)
    release = awaited(Hold.release)


class AsyncSandbox(Closing["AsyncSandbox"], Identity):
    """A `Sandbox` whose calls are awaited."""

    def __init__(self, sync: Sandbox) -> None:
        super().__init__(sync._control, sync._described)
        self.sync = sync

    @property
    def now(self) -> Awaitable[datetime]:
        """The sandbox's time: `await sandbox.now`."""
        return in_thread(lambda: self.sync.now)

    rule = awaited_as(AsyncRule, Sandbox.rule)
    fault = awaited_as(AsyncRule, Sandbox.fault)
    hold = opened(AsyncHold, Sandbox.hold)
    fork = opened(lambda sync: AsyncSandbox(sync), Sandbox.fork)
    call = awaited(Sandbox.call)
    ask = awaited(Sandbox.ask)
    clock = awaited(Sandbox.clock)
    advance = awaited(Sandbox.advance)
    run_until_idle = awaited(Sandbox.run_until_idle)
    deposit = awaited(Sandbox.deposit)
    set_callback = awaited(Sandbox.set_callback)
    replies = awaited(Sandbox.replies)
    mark = awaited(Sandbox.mark)
    rewind = awaited(Sandbox.rewind)
    reset = awaited(Sandbox.reset)
    delete = awaited(Sandbox.delete)
    close = awaited(Sandbox.close)
    balance = awaited(Sandbox.balance)
    transaction = awaited(Sandbox.transaction)
    transactions = awaited(Sandbox.transactions)
    story = awaited(Sandbox.story)
    requests = awaited(Sandbox.requests)
    refused = awaited(Sandbox.refused)
    callbacks = awaited(Sandbox.callbacks)
    audit = awaited(Sandbox.audit)
    inbox = awaited(Sandbox.inbox)
    wait_for_callback = awaited(Sandbox.wait_for_callback)
    expect_status = awaited(Sandbox.expect_status)
    expect_balance = awaited(Sandbox.expect_balance)
    expect_callback = awaited(Sandbox.expect_callback)
    expect_no_refusals = awaited(Sandbox.expect_no_refusals)
    expect_clean_audit = awaited(Sandbox.expect_clean_audit)


class AsyncSimulator(Closing["AsyncSimulator"]):
    """A `Simulator` whose calls are awaited."""

    def __init__(self, url: str | None = None, token: str | None = None, *, sync: Simulator | None = None) -> None:
        self.sync = sync or Simulator(url, token)
        self.url, self.control_url = self.sync.url, self.sync.control_url

    @property
    def output(self) -> list[str]:
        """The latest lines that the process printed."""
        return list(self.sync.output)

    @classmethod
    def start(cls, *args: Any, **kwargs: Any) -> "Opening[AsyncSimulator]":
        """Start a simulator like `Simulator.start`: `await` it, or use it with `async with`."""

        async def opening() -> AsyncSimulator:
            return cls(sync=await in_thread(Simulator.start, *args, **kwargs))

        return Opening(opening)

    sandbox = opened(AsyncSandbox, Simulator.sandbox)
    open = opened(AsyncSandbox, Simulator.open)
    health = awaited(Simulator.health)
    sandboxes = awaited(Simulator.sandboxes)
    close = awaited(Simulator.close)
