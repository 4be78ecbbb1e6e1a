"""What the first request that needs it would import or read, which takes up to a fifth of a second: done soon after the
start, beside the event loop. A request that comes earlier does it itself, with the same result."""

import asyncio
from collections.abc import Callable
from functools import partial
from importlib import import_module

from simulator.contract.openapi import OPENAPI, load
from simulator.contract.register import assumptions
from simulator.scenario.sections.templates import person_pools

DELAY_S = 1.0  # the server answers its first requests undisturbed

STEPS: tuple[Callable[[], object], ...] = (
    partial(import_module, "simulator.control.app"),  # Starlette
    partial(import_module, "simulator.control.access"),
    partial(import_module, "simulator.auth.diagnose"),  # the first wrong signature
    partial(import_module, "jwt"),  # tokens
    person_pools,  # Faker, with the first bill
    assumptions,
    partial(load, OPENAPI),  # coverage
)


async def prepare() -> None:
    """Do all of it, step by step, so that it can be cancelled between them."""
    await asyncio.sleep(DELAY_S)
    for step in STEPS:
        # In a thread that the process waits for: one that imports must not meet the interpreter's end.
        await asyncio.to_thread(step)
