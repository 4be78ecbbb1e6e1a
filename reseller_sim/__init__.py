"""The package that tests import: a client of the simulator, a signer for HTTP clients, and a receiver of callbacks.

Importing this costs nothing: each name is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reseller_sim.asynchronous import AsyncHold, AsyncRule, AsyncSandbox, AsyncSimulator
    from reseller_sim.control import NoAnswer, NotIdle, NotRunning, NotStarted, SimulatorError, WrongAnswer
    from reseller_sim.evidence import Story
    from reseller_sim.exchange import Answer
    from reseller_sim.receiver import Message, Receiver
    from reseller_sim.sandbox import Hold, Rule, Sandbox
    from reseller_sim.signatures import HMACAuth, Verdict, verify_webhook
    from reseller_sim.simulator import Simulator

__all__ = [
    "Answer", "AsyncHold", "AsyncRule", "AsyncSandbox", "AsyncSimulator", "HMACAuth", "Hold", "Message", "NoAnswer",
    "NotIdle", "NotRunning", "NotStarted", "Receiver", "Rule", "Sandbox", "Simulator", "SimulatorError", "Story",
    "Verdict", "WrongAnswer", "verify_webhook",
]  # fmt: skip
_MODULES = ("signatures", "control", "exchange", "receiver", "evidence", "sandbox", "simulator", "asynchronous")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    modules = (import_module(f"{__name__}.{module}") for module in _MODULES)
    found = globals()[name] = next(vars(module)[name] for module in modules if name in vars(module))
    return found
