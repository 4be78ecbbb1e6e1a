"""What tests import: a client of the simulator, a signer for HTTP clients, and a receiver of callbacks.

Importing this costs nothing: each name is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reseller_sim.asynchronous import AsyncRule, AsyncSandbox, AsyncSimulator
    from reseller_sim.auth import HMACAuth
    from reseller_sim.errors import NoAnswer, NotIdle, NotRunning, NotStarted, SimulatorError, WrongAnswer
    from reseller_sim.exchange import Answer
    from reseller_sim.messages import Message
    from reseller_sim.receiver import Receiver
    from reseller_sim.rule import Rule
    from reseller_sim.sandbox import Sandbox
    from reseller_sim.simulator import Simulator
    from reseller_sim.story import Story
    from reseller_sim.webhooks import Verdict, verify_webhook

_MODULES = {
    "Answer": "exchange",
    "AsyncRule": "asynchronous",
    "AsyncSandbox": "asynchronous",
    "AsyncSimulator": "asynchronous",
    "HMACAuth": "auth",
    "Message": "messages",
    "NoAnswer": "errors",
    "NotIdle": "errors",
    "NotRunning": "errors",
    "NotStarted": "errors",
    "Receiver": "receiver",
    "Rule": "rule",
    "Sandbox": "sandbox",
    "Simulator": "simulator",
    "SimulatorError": "errors",
    "Story": "story",
    "Verdict": "webhooks",
    "WrongAnswer": "errors",
    "verify_webhook": "webhooks",
}

__all__ = [
    "Answer",
    "AsyncRule",
    "AsyncSandbox",
    "AsyncSimulator",
    "HMACAuth",
    "Message",
    "NoAnswer",
    "NotIdle",
    "NotRunning",
    "NotStarted",
    "Receiver",
    "Rule",
    "Sandbox",
    "Simulator",
    "SimulatorError",
    "Story",
    "Verdict",
    "WrongAnswer",
    "verify_webhook",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        from reseller_sim.arguments import did_you_mean

        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{did_you_mean(name, __all__)}")
    found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
