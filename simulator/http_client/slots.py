"""Slots for network attempts: owners share them fairly, within a total and a maximum per receiver."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial

import msgspec

TOTAL = 1024
"""The maximum number of concurrent network attempts of the whole server."""

PER_RECEIVER = 64
"""The maximum number of concurrent attempts of an owner to a host and port. More attempts are queued."""

Receiver = tuple[str, int]  # host and port
IsWanted = Callable[[], bool]  # returns whether an attempt waits for a slot that is held
Turn = AbstractAsyncContextManager[IsWanted]  # waits for a slot, and holds it


class _Lane(msgspec.Struct):
    """The attempts of an owner to a receiver: slot holders, and waiting attempts in order. Tens of thousands of
    attempts may be cancelled at once."""

    held: int = 0
    waiting: "OrderedDict[asyncio.Future[None], None]" = msgspec.field(default_factory=OrderedDict)


class _Owner(msgspec.Struct):
    """The lanes of an owner. `ready` is the round-robin of lanes with waiting attempts and receiver capacity."""

    held: int = 0
    lanes: dict[Receiver, _Lane] = msgspec.field(default_factory=dict)
    ready: "OrderedDict[Receiver, None]" = msgspec.field(default_factory=OrderedDict)


class Slots:
    """A fair scheduler: an owner, here a sandbox, gets another slot while it holds fewer than are free.

    A single owner can use half of `total`, two owners a third each, so a new owner always finds a free slot: owners
    with dead receivers delay only themselves. Freed slots go to the waiting owners in turn, and within an owner to its
    receivers in turn. A scheduler belongs to one event loop.
    """

    def __init__(self, total: int = TOTAL, per_receiver: int = PER_RECEIVER) -> None:
        self._free = total
        self._per_receiver = per_receiver
        self._owners: dict[str, _Owner] = {}
        self._in_turn: OrderedDict[str, None] = OrderedDict()  # the owners with a ready lane

    async def take(self, name: str, receiver: Receiver) -> None:
        """Wait for a slot of the owner `name`, and hold it until `give_back`."""
        owner = self._owners.get(name) or self._owners.setdefault(name, _Owner())
        lane = owner.lanes.get(receiver) or owner.lanes.setdefault(receiver, _Lane())
        if not lane.waiting and lane.held < self._per_receiver and owner.held < self._free:
            self._free -= 1
            owner.held += 1
            lane.held += 1
            return
        turn = asyncio.get_running_loop().create_future()
        lane.waiting[turn] = None
        self._refresh(name, owner, receiver, lane)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # granted and cancelled in the same loop iteration
                self.give_back(name, receiver)
            elif turn in lane.waiting:
                del lane.waiting[turn]
                self._refresh(name, owner, receiver, lane)
            raise

    def is_wanted(self, name: str, receiver: Receiver) -> bool:
        """Return whether an attempt waits that may get a held slot of the owner `name` when it is given back."""
        return bool(self._in_turn or self._owners[name].lanes[receiver].waiting)

    def give_back(self, name: str, receiver: Receiver) -> None:
        """Free a slot."""
        owner = self._owners[name]
        lane = owner.lanes[receiver]
        self._free += 1
        owner.held -= 1
        lane.held -= 1
        if lane.waiting or not lane.held:
            self._refresh(name, owner, receiver, lane)
        if self._in_turn:
            self._hand_out()

    def _hand_out(self) -> None:
        passed_over = 0
        while self._free and passed_over < len(self._in_turn):
            name = next(iter(self._in_turn))
            self._in_turn.move_to_end(name)
            owner = self._owners[name]
            if owner.held >= self._free:
                passed_over += 1
                continue
            passed_over = 0
            receiver = next(iter(owner.ready))
            owner.ready.move_to_end(receiver)
            lane = owner.lanes[receiver]
            turn, _ = lane.waiting.popitem(last=False)
            if not turn.done():  # else its attempt was cancelled, and has not run since
                self._free -= 1
                owner.held += 1
                lane.held += 1
                turn.set_result(None)
            self._refresh(name, owner, receiver, lane)

    def _refresh(self, name: str, owner: _Owner, receiver: Receiver, lane: _Lane) -> None:
        """Queue a lane with waiting attempts, or remove it; delete lanes and owners without attempts."""
        if lane.waiting and lane.held < self._per_receiver:
            owner.ready.setdefault(receiver)
            self._in_turn.setdefault(name)
            return
        owner.ready.pop(receiver, None)
        if not owner.ready:
            self._in_turn.pop(name, None)
        if not lane.held and not lane.waiting:
            del owner.lanes[receiver]
            if not owner.lanes:
                del self._owners[name]


class Slot:
    """A slot of `owner` at `receiver`, which an `async with` waits for and holds."""

    def __init__(self, slots: Slots, owner: str, receiver: Receiver) -> None:
        self._slots, self._owner, self._receiver = slots, owner, receiver

    async def __aenter__(self) -> IsWanted:
        await self._slots.take(self._owner, self._receiver)
        return partial(self._slots.is_wanted, self._owner, self._receiver)

    async def __aexit__(self, *_: object) -> None:
        self._slots.give_back(self._owner, self._receiver)
