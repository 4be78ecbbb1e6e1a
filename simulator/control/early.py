"""`/_sim/health` and `/_sim/ready` while there is no application yet that could answer anything else."""

from collections.abc import Callable, Mapping

from simulator import __version__
from simulator.runtime.operations import STARTING, Operations
from simulator.wire.json import encode


def probes(operations: Operations) -> Mapping[str, Callable[[], tuple[int, bytes]]]:
    """What is answered to each path: a status, and a body as the control API has it."""

    def ready() -> tuple[int, bytes]:
        why = operations.not_ready or STARTING
        return 503, encode({"error": why.code, "message": why.message, "path": ""})

    return {
        "/_sim/health": lambda: (200, encode({"status": "ok", "version": __version__})),
        "/_sim/ready": ready,
    }
