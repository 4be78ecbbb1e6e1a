"""What tests import: a client of the simulator, a signer for HTTP clients, and a receiver of callbacks.

Importing this costs nothing: each name is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reseller_sim.asynchronous import AsyncRule as AsyncRule
    from reseller_sim.asynchronous import AsyncSandbox as AsyncSandbox
    from reseller_sim.asynchronous import AsyncSimulator as AsyncSimulator
    from reseller_sim.control import NoAnswer as NoAnswer
    from reseller_sim.control import NotIdle as NotIdle
    from reseller_sim.control import NotRunning as NotRunning
    from reseller_sim.control import NotStarted as NotStarted
    from reseller_sim.control import SimulatorError as SimulatorError
    from reseller_sim.control import WrongAnswer as WrongAnswer
    from reseller_sim.exchange import Answer as Answer
    from reseller_sim.receiver import Message as Message
    from reseller_sim.receiver import Receiver as Receiver
    from reseller_sim.sandbox import Rule as Rule
    from reseller_sim.sandbox import Sandbox as Sandbox
    from reseller_sim.signatures import HMACAuth as HMACAuth
    from reseller_sim.signatures import Verdict as Verdict
    from reseller_sim.signatures import verify_webhook as verify_webhook
    from reseller_sim.simulator import Simulator as Simulator
    from reseller_sim.story import Story as Story

_NAMES = {
    "asynchronous": ("AsyncRule", "AsyncSandbox", "AsyncSimulator"),
    "control": ("NoAnswer", "NotIdle", "NotRunning", "NotStarted", "SimulatorError", "WrongAnswer"),
    "exchange": ("Answer",),
    "receiver": ("Message", "Receiver"),
    "sandbox": ("Rule", "Sandbox"),
    "signatures": ("HMACAuth", "Verdict", "verify_webhook"),
    "simulator": ("Simulator",),
    "story": ("Story",),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        from reseller_sim.arguments import did_you_mean

        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{did_you_mean(name, __all__)}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
