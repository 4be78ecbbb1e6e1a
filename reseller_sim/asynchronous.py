"""The same client for asyncio: each call of the synchronous one in a thread of its own.

A cancelled call returns at once; its thread ends with its request, and the simulator does what it was asked.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import suppress
from datetime import datetime
from functools import update_wrapper, wraps
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar

from reseller_sim.arguments import checked
from reseller_sim.identity import Identity
from reseller_sim.parameters import Header, Url
from reseller_sim.rule import Rule
from reseller_sim.sandbox import Sandbox
from reseller_sim.simulator import Simulator

P = ParamSpec("P")
T = TypeVar("T")
W = TypeVar("W")


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function in a new thread, which holds up neither the loop nor the end of the process."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def tell(result: T | None, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]  # without an error it is a T

    def run() -> None:
        try:
            outcome: tuple[T | None, BaseException | None] = (function(*args, **kwargs), None)
        except Exception as error:
            outcome = (None, error)
        with suppress(RuntimeError):  # nobody waits any more when the loop is closed
            loop.call_soon_threadsafe(tell, *outcome)

    threading.Thread(target=run, name="reseller-sim call", daemon=True).start()
    return await done


def awaited(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """The same method for what has a synchronous one inside, in a thread."""
    return awaited_as(lambda result: result, method)


def awaited_as(
    wrap: Callable[[T], W], method: Callable[Concatenate[Any, P], T]
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, W]]:
    """The same, whose result is wrapped."""

    async def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> W:
        return wrap(await in_thread(method, self.sync, *args, **kwargs))

    return update_wrapper(call, method)


class _Closable(Protocol):
    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


C = TypeVar("C", bound=_Closable)


class Opening(Generic[C]):
    """What is being opened: `await` it, or use it with `async with`, which also closes it."""

    def __init__(self, opening: Callable[[], Coroutine[Any, Any, C]]) -> None:
        self._opening = opening
        self._opened: C | None = None

    def __await__(self) -> Generator[Any, Any, C]:
        return self._opening().__await__()

    async def __aenter__(self) -> C:
        self._opened = await self._opening()
        return await self._opened.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._opened is not None:
            await self._opened.__aexit__(kind, error, trace)


def opened(
    wrap: Callable[[T], C], method: Callable[Concatenate[Any, P], T]
) -> Callable[Concatenate[Any, P], Opening[C]]:
    """The same, whose result is awaited or used with `async with`."""
    call = awaited_as(wrap, method)
    return update_wrapper(lambda self, /, *args, **kwargs: Opening(lambda: call(self, *args, **kwargs)), method)


class AsyncRule:
    """A rule that was added; `remove` deletes it."""

    @checked
    def __init__(self, sync: Rule) -> None:
        self.id = sync.id
        self.sync = sync

    remove = awaited(Rule.remove)


class AsyncSandbox(Identity):
    """A `Sandbox` whose calls are awaited."""

    @checked
    def __init__(self, sync: Sandbox) -> None:
        super().__init__(sync._control, sync._described)
        self.sync = sync

    @property
    def now(self) -> Awaitable[datetime]:
        """The sandbox's time: `await sandbox.now`."""
        return in_thread(lambda: self.sync.now)

    rule = awaited_as(AsyncRule, Sandbox.rule)
    fault = awaited_as(AsyncRule, Sandbox.fault)
    fork = opened(lambda sync: AsyncSandbox(sync), Sandbox.fork)
    call = awaited(Sandbox.call)
    ask = awaited(Sandbox.ask)
    clock = awaited(Sandbox.clock)
    advance = awaited(Sandbox.advance)
    run_until_idle = awaited(Sandbox.run_until_idle)
    deposit = awaited(Sandbox.deposit)
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

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await in_thread(self.sync.__exit__, kind, error, trace)


class AsyncSimulator:
    """A `Simulator` whose calls are awaited."""

    @checked
    def __init__(self, url: Url | None = None, token: Header | None = None) -> None:
        self.sync = Simulator(url, token)

    @property
    def url(self) -> str:
        """The root URL."""
        return self.sync.url

    @property
    def control_url(self) -> str:
        """The URL of the control API, ending in `/_sim`."""
        return self.sync.control_url

    @property
    def output(self) -> list[str]:
        """The latest lines that the process printed."""
        return self.sync.output

    @staticmethod
    @wraps(Simulator.start)
    def start(*args: Any, **kwargs: Any) -> "Opening[AsyncSimulator]":
        """As `Simulator.start`: `await` it, or `async with` it."""

        async def opening() -> AsyncSimulator:
            simulator = AsyncSimulator.__new__(AsyncSimulator)
            simulator.sync = await in_thread(Simulator.start, *args, **kwargs)
            return simulator

        return Opening(opening)

    sandbox = opened(AsyncSandbox, Simulator.sandbox)
    open = opened(AsyncSandbox, Simulator.open)
    health = awaited(Simulator.health)
    sandboxes = awaited(Simulator.sandboxes)
    close = awaited(Simulator.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
