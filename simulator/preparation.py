"""Preparation of lazy imports and files soon after the start, in a thread, to save the first requests a fifth of a
second. An earlier request loads them itself, with the same result."""

import asyncio
from collections.abc import Callable
from functools import partial
from importlib import import_module

from simulator.contract.openapi import OPENAPI, load
from simulator.contract.register import assumptions
from simulator.scenario.sections.templates import person_pools

DELAY_S = 1.0  # the server answers its first requests undisturbed

STEPS: tuple[Callable[[], object], ...] = (
    partial(import_module, "simulator.control.control_app"),  # Starlette
    partial(import_module, "simulator.control.access"),
    partial(import_module, "simulator.auth.autopsy.report"),  # the first wrong signature
    person_pools,  # Faker, with the first bill
    assumptions,
    partial(load, OPENAPI),  # coverage
)


async def prepare() -> None:
    """Prepare step by step, so that it can be cancelled between steps."""
    await asyncio.sleep(DELAY_S)
    for step in STEPS:
        # In a thread that the process waits for: an import must not run during the interpreter's exit.
        await asyncio.to_thread(step)
