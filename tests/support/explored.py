"""Inputs for tests of `explore`: a setting, and the observation of a baseline."""

import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from simulator.explore.observation import Observation, ObservedPayment, OrderKey, RunOutcome, SeenStep
from simulator.explore.run_scenario import Base
from simulator.explore.run_verdicts import Record, RunVerdict
from simulator.explore.runs import Setting, Workers
from simulator.explore.trials import Faults, Trial, Trials
from simulator.options import Options

FAST = Base("default", {"mode": "xN", "rate": 100})
ORDER = OrderKey("RELOAD", "0123456789", "10.00")
STEPS = (
    SeenStep("Accepted", 1, 0),
    SeenStep("Processing", 2, 2),
    SeenStep("Succesful", 20, 5, (("sn", "123"),), is_final=True),
)
AT_ONCE = (SeenStep("Succesful", 20, 0, is_final=True),)


def seen() -> Observation:
    """Return a run with pages, a balance, two payments of the same order, and a payment that succeeds at once."""
    exchanges = {("GET", "/v2/options"): 4, ("GET", "/v2/balance"): 1, ("POST", "/v2/topup"): 5}
    exchanges["POST", "/v2/balance-webhook/deliveries/*/replay"] = 1
    reported = ("Processing", "Succesful")
    payments = [ObservedPayment(ORDER, 1, STEPS, reported), ObservedPayment(ORDER, 2, STEPS, reported)]
    payments.append(ObservedPayment(OrderKey("GIFTCARD", "", "25.00"), 1, AT_ONCE))
    kept = Counter({ORDER: 2, payments[2].order: 1})
    found = Observation(exchanges=exchanges, payments=payments, kept=kept, triggered={"ordinary"})
    found.webhooks.add("balance.added")
    return found


def outcome(of: Observation, exit_code: int | None = 0) -> RunOutcome:
    """A run that ended so."""
    return RunOutcome(exit_code, 1.0, "", of)


@contextmanager
def trials(folder: Path, *command: str) -> Iterator[Trials]:
    """Yield the trials of a Python command after its baseline."""
    setting = Setting((sys.executable, *command), Options(), "127.0.0.1", 0, folder)
    with closing(Record(folder, {}, resumes=False)) as record, Workers(setting, 2) as workers:
        made = Trials(workers, FAST, record, rate=100)
        made.run_baseline()
        record.begin()
        yield made


class Foretold(Trials):
    """Trials with given verdicts, without any run. `made` records the trials. The tape of a failed run identifies
    it."""

    def __init__(self, verdict_of: Callable[[Trial], RunVerdict]) -> None:
        self.base = FAST
        self.baseline = outcome(seen())
        self.tapes = {}
        self.made: dict[Trial, RunVerdict] = {}
        self._verdict_of = verdict_of

    def limit_s(self, faults: Faults) -> float:
        return 60.0

    def run(self, tests: Iterable[Trial]) -> Iterator[tuple[Trial, RunVerdict]]:
        left = tests if isinstance(tests, deque) else deque(tests)
        while left:
            trial = left.popleft()
            if trial not in self.made:
                self.made[trial] = self._verdict_of(trial)
                if not self.made[trial].survived:
                    self.tapes[trial] = f"attempt {trial.attempt} of {len(trial.faults)} faults".encode()
            yield trial, self.made[trial]
