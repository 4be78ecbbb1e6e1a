"""What whoever operates a server asks of it: whether it is ready and if not why, and what belongs to no sandbox."""

from collections.abc import Mapping
from time import time
from typing import Final, NamedTuple

from simulator.runtime.loop_lag import LoopLag


class NotReady(NamedTuple):
    """Why a server is not ready: a code for machines, a sentence for people."""

    code: str
    message: str


STARTING: Final = NotReady("starting", "the server is starting; ask again")
REBUILDING: Final = NotReady("rebuilding", "the sandboxes of the data folder are being rebuilt; ask again")
DRAINING: Final = NotReady(
    "draining", "the server is about to stop and answers for a little while longer; send no more"
)
STOPPING: Final = NotReady("stopping", "the server is being stopped")


class Operations:
    """`not_ready` says why it is not, None when it is. `answered` counts what the control API answered, by status;
    `refused` what the server refused before anything looked at it, by its code; `certificate_ends_s` is when the
    first of its certificates expires, as a time of Unix, None without TLS; `wall_steps` counts how often the machine's
    clock was set."""

    def __init__(self, refused: Mapping[str, int]) -> None:
        self.not_ready: NotReady | None = STARTING
        self.answered: dict[int, int] = {}
        self.refused = refused
        self.lag = LoopLag()
        self.began_s = time()
        self.certificate_ends_s: float | None = None
        self.wall_steps = 0
