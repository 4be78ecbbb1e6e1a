"""`/_sim/health` and `/_sim/ready` while there is no application yet that could answer anything else."""

from collections.abc import Callable, Mapping

from simulator import __version__
from simulator.runtime.operations import STARTING, Operations
from simulator.wire.json import encode

Answer = Callable[[], tuple[int, bytes]]
"""Makes a status, and a body as the control API has it."""


def probes(operations: Operations, root: str = "") -> tuple[Mapping[str, Answer], Answer]:
    """What is answered to each path, also below the `root` that a proxy has before ours, and to everything else where
    that cannot wait."""

    def ready() -> tuple[int, bytes]:
        why = operations.not_ready or STARTING
        return 503, encode({"error": why.code, "message": why.message, "path": ""})

    answers: dict[str, Answer] = {
        "/_sim/health": lambda: (200, encode({"status": "ok", "version": __version__})),
        "/_sim/ready": ready,
    }
    return {f"{before}{path}": one for path, one in answers.items() for before in ("", root)}, ready
