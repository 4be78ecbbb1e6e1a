"""A receiver of callbacks that outlives the servers, and sometimes fails or does not answer."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.support.receivers import Answer, Got, Receiver

ANSWERS: dict[str, Answer] = {"delivered": 200, "failed": 500, "silent": None}

Which = tuple[str, str]  # refid, status


@dataclass
class Called:
    """The callbacks that arrived and their answers, by payment and status. `on_call` runs before each answer."""

    draw: random.Random
    on_call: Callable[[], object] = lambda: None
    seen: dict[Which, list[str]] = field(default_factory=dict)

    def judge(self, got: Got) -> Answer:
        """Choose the answer to a callback, a success in most cases."""
        (answer,) = self.draw.choices(list(ANSWERS), [90, 8, 2])
        data = got.data
        self.seen.setdefault((data["refid"], data["status"]), []).append(answer)
        self.on_call()
        return ANSWERS[answer]

    def counted(self) -> Counter[Which]:
        """Count the arrivals of each payment and status."""
        return Counter({which: len(answers) for which, answers in self.seen.items()})


def receiver(draw: random.Random) -> tuple[Receiver, Called]:
    """Return a receiver that is not started yet, and its record."""
    called = Called(draw)
    return Receiver(judge=called.judge), called
