"""A common interface of the synchronous and the asynchronous client, so that each test covers both."""

import asyncio
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from reseller_sim import AsyncHold, AsyncSandbox, AsyncSimulator, Hold, Sandbox, Simulator


class Awaited:
    """An asynchronous object whose calls are awaited at once; a context manager where it is one."""

    def __init__(self, inside: Any, runner: asyncio.Runner) -> None:
        self._inside, self._runner = inside, runner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inside, name)
        if callable(found):
            return lambda *args, **kwargs: self._result(found(*args, **kwargs))
        return self._result(found)

    def _result(self, found: Any) -> Any:
        if inspect.isawaitable(found):
            found = self._runner.run(_value(found))
        is_ours = type(found).__module__ == "reseller_sim.asynchronous"
        return Awaited(found, self._runner) if is_ours else found

    def __enter__(self) -> "Awaited":
        return self._result(self._inside.__aenter__())  # type: ignore[no-any-return]  # it is ours

    def __exit__(self, *error: Any) -> None:
        self._runner.run(self._inside.__aexit__(*error))


async def _value(found: Any) -> Any:
    return await found


@contextmanager
def client_of(kind: str, url: str) -> Iterator[Any]:
    """A client `sync` or `async` of the simulator at a URL."""
    if kind == "sync":
        yield Simulator(url)
        return
    with asyncio.Runner() as runner:
        yield Awaited(AsyncSimulator(url), runner)


def public(kind: type) -> set[str]:
    """The names that a class offers."""
    return {name for name in dir(kind) if not name.startswith("_")}


PAIRS = ((Simulator, AsyncSimulator), (Sandbox, AsyncSandbox), (Hold, AsyncHold))
