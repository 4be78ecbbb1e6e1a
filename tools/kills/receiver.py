"""A receiver of callbacks that outlives the servers that call it, and sometimes fails or says nothing."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.support.receivers import Answer, Got, Receiver

ANSWERS: dict[str, Answer] = {"delivered": 200, "failed": 500, "silent": None}

Which = tuple[str, str]  # refid, status


@dataclass
class Called:
    """What came, and how it was answered, by payment and status. `on_call` is called before anything is answered."""

    draw: random.Random
    on_call: Callable[[], object] = lambda: None
    seen: dict[Which, list[str]] = field(default_factory=dict)

    def judge(self, got: Got) -> Answer:
        """Answer one, mostly well."""
        (answer,) = self.draw.choices(list(ANSWERS), [90, 8, 2])
        data = got.data
        self.seen.setdefault((data["refid"], data["status"]), []).append(answer)
        self.on_call()
        return ANSWERS[answer]

    def counted(self) -> Counter[Which]:
        """How often each has come until now."""
        return Counter({which: len(answers) for which, answers in self.seen.items()})


def receiver(draw: random.Random) -> tuple[Receiver, Called]:
    """One that is not started yet, and what it will have seen."""
    called = Called(draw)
    return Receiver(judge=called.judge), called
