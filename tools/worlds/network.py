"""The network between the application and its receivers, instead of `HttpSender`.

The reaction of a receiver depends on the seed, its mood and the request, never on the number of earlier requests. So a
shortened sequence of steps meets the same network.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from simulator.domain.model.delivery_attempts import AttemptEnd, AttemptResult, OutgoingRequest
from simulator.domain.sandbox import Sandbox
from simulator.http_client.slots import Turn
from simulator.runtime.live_sandbox import LiveSandbox

ANSWERED, TIMEOUT = AttemptEnd.ANSWERED, AttemptEnd.TIMEOUT


@dataclass(frozen=True)
class Reaction:
    """The reaction of a receiver: its duration, its result, and whether it calls the API before it answers."""

    delay_s: float
    result: AttemptResult
    calls_back: str = ""


def _answers(status: int, delay_s: float = 0.05, error: str = "", calls_back: str = "") -> Reaction:
    return Reaction(delay_s, AttemptResult(ANSWERED, status, "ok", error), calls_back)


def _breaks(kind: AttemptEnd, delay_s: float = 0.2) -> Reaction:
    return Reaction(delay_s, AttemptResult(kind, error="the receiver lies"))


NEVER_S = 1e9

FINE = _answers(200)
LIES = (
    _answers(500), _answers(503, 2.0), _answers(408), _answers(429), _answers(404), _answers(302), _answers(600),
    _answers(200, 12.0), _answers(200, 31.0), _answers(500, 29.0), _answers(204, error="cut in the body"),
    _breaks(AttemptEnd.CONNECTION), _breaks(AttemptEnd.CONNECTION, 7.0), _breaks(AttemptEnd.DNS),
    _breaks(AttemptEnd.BLOCKED, 0.0), _breaks(TIMEOUT, NEVER_S), _breaks(TIMEOUT, NEVER_S),
)  # fmt: skip
CALLING = (
    _answers(200, 0.5, calls_back="requery"),
    _answers(200, 0.0, calls_back="pay"),
    _answers(500, 1.0, calls_back="requery"),
    _answers(200, 3.0, calls_back="balance"),
    _answers(200, 0.1, calls_back="twice"),
)

MOODS: dict[str, tuple[Reaction, ...]] = {
    "fine": (FINE,),
    "mixed": (*[FINE] * 12, *LIES, *CALLING),
    "calling": (FINE, *CALLING),
    "lying": LIES,
    "down": (_breaks(AttemptEnd.CONNECTION, 0.0),),
    "failing": (_answers(500),),
    "slow": (_answers(200, 4.0), _answers(200, 20.0), _answers(503, 9.0)),
    "silent": (_breaks(TIMEOUT, NEVER_S),),
}


@dataclass
class Arrival:
    """An attempt that was sent: its request, its sandbox time, its result and the time of that."""

    sandbox: LiveSandbox
    outgoing: OutgoingRequest
    began: datetime
    ended: datetime | None = None
    result: AttemptResult | None = None


class Network:
    """An implementation of `Sender`. `arrivals` are the attempts by core (each life has its own), job and number;
    `on_call` calls the API for a receiver."""

    def __init__(self, seed: int, find: Callable[[str], LiveSandbox | None]) -> None:
        self._seed = seed
        self._find = find
        self.moods: dict[str, str] = {}
        self.usual_mood = "mixed"
        self.arrivals: dict[tuple[Sandbox, str, int], Arrival] = {}
        self.in_air = 0
        self.problems: list[str] = []
        self.is_durable: Callable[[], bool] = lambda: True
        self.log: Callable[[str, bytes], None] = lambda what, content: None
        self.on_call: Callable[[str, LiveSandbox, OutgoingRequest], Awaitable[None]] | None = None

    def turn(self, url: str, owner: str) -> Turn:
        return nullcontext(lambda: False)

    async def send(self, outgoing: OutgoingRequest, timeout_s: float, owner: str) -> AttemptResult:
        """Send one attempt."""
        live = self._find(owner)
        assert live is not None, "who sends exists"
        latest = live.courier.sent._sent[-1]  # the courier has just written that down
        job, number = latest.job, latest.number
        arrival = self._note(live, job, number, outgoing)
        headers = "".join(f"{name}:{value}\n" for name, value in outgoing.headers)
        self.log(f"{owner} {outgoing.method} {outgoing.url}\n{headers}", outgoing.body or b"")
        reaction = self._reaction(outgoing.url, f"{live.id} {job} {number}")
        self.in_air += 1
        try:
            if reaction.calls_back and self.on_call is not None:
                await self.on_call(reaction.calls_back, live, outgoing)
            await asyncio.sleep(min(reaction.delay_s, timeout_s))
        finally:
            self.in_air -= 1
        late = AttemptResult(TIMEOUT, error=f"no answer within {timeout_s:g} s")
        result = late if reaction.delay_s >= timeout_s else reaction.result
        arrival.result, arrival.ended = result, live.clock.now()
        return result

    def _note(self, live: LiveSandbox, job: str, number: int, outgoing: OutgoingRequest) -> Arrival:
        arrival = Arrival(live, outgoing, live.clock.now())
        if self.arrivals.setdefault((live.core, job, number), arrival) is not arrival:
            self.problems.append(f"{live.id}: attempt {number} of {job} was sent twice")
        if not self.is_durable():
            self.problems.append(f"{live.id}: attempt {number} of {job} was sent before what led to it was on the disk")
        return arrival

    def carry(self, before: Sandbox, live: LiveSandbox) -> None:
        """Move the arrivals of the core `before` to the sandbox that continues it, as far as it knows them."""
        state = live.core.state
        for (core, job, number), arrival in list(self.arrivals.items()):
            if core is before:
                found = state.callbacks.find(job) or state.deliveries.find(job)
                if found is None or (len(found.attempts) >= number and found.attempts[number - 1].result is not None):
                    self.arrivals[live.core, job, number] = arrival

    def _reaction(self, url: str, identity: str) -> Reaction:
        choices = MOODS[self.moods.get(urlsplit(url).netloc, self.usual_mood)]
        drawn = hashlib.blake2b(f"{self._seed} {url} {identity}".encode(), digest_size=4).digest()
        return choices[int.from_bytes(drawn, "big") % len(choices)]
