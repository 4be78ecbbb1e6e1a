"""Long, pure work in a thread beside the event loop.

There is one such thread, since each shares the interpreter with the loop, which gets it back every five milliseconds.
What runs there must not read or change what the loop may change meanwhile.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_THREAD = ThreadPoolExecutor(max_workers=1, thread_name_prefix="background")


async def in_background(work: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """The result of `work`, or what it raises, while the event loop goes on."""
    return await asyncio.get_running_loop().run_in_executor(_THREAD, lambda: work(*arguments, **options))
