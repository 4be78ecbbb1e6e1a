"""Slots for network attempts: owners share them fairly, within a total and a maximum at each receiver."""

import asyncio
from collections import OrderedDict
from contextlib import AbstractAsyncContextManager

import msgspec

TOTAL = 1024
"""Concurrent attempts over the network of the whole server."""

PER_RECEIVER = 64
"""Concurrent attempts of an owner to a host and port; more attempts are queued."""

Receiver = tuple[str, int]  # host and port


class _Lane(msgspec.Struct):
    """The attempts of one owner to one receiver: those that hold a slot, and those that wait for one, in order. Any of
    those may be cancelled, and so may tens of thousands at once."""

    held: int = 0
    waiting: "OrderedDict[asyncio.Future[None], None]" = msgspec.field(default_factory=OrderedDict)


class _Owner(msgspec.Struct):
    """One owner's lanes. `ready` names those in which somebody waits though the receiver has room, in turn."""

    held: int = 0
    lanes: dict[Receiver, _Lane] = msgspec.field(default_factory=dict)
    ready: "OrderedDict[Receiver, None]" = msgspec.field(default_factory=OrderedDict)


class Slots:
    """An owner, here a sandbox, gets another slot while it holds fewer than are free.

    So one owner alone can use half of `total`, two a third each, and there is always room for one more: owners whose
    receivers are dead keep only themselves waiting. Freed slots go to the waiting owners in turn, and of each owner to
    its receivers in turn. Belongs to one event loop.
    """

    def __init__(self, total: int = TOTAL, per_receiver: int = PER_RECEIVER) -> None:
        self._free = total
        self._per_receiver = per_receiver
        self._owners: dict[str, _Owner] = {}
        self._in_turn: OrderedDict[str, None] = OrderedDict()  # the owners with a ready lane

    def hold(self, owner: str, receiver: Receiver) -> "Held":
        """Hold a slot of `owner` at `receiver` meanwhile; wait until a slot is free."""
        return Held(self, owner, receiver)

    async def take(self, name: str, receiver: Receiver) -> None:
        """Wait for a slot of the owner `name`, and have it until `give_back`."""
        owner = self._owners.setdefault(name, _Owner())
        lane = owner.lanes.setdefault(receiver, _Lane())
        if not lane.waiting and lane.held < self._per_receiver and owner.held < self._free:
            self._grant(owner, lane)
            return
        turn = asyncio.get_running_loop().create_future()
        lane.waiting[turn] = None
        self._refresh(name, owner, receiver, lane)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was granted and cancelled in one turn of the loop
                self.give_back(name, receiver)
            elif turn in lane.waiting:
                del lane.waiting[turn]
                self._refresh(name, owner, receiver, lane)
            raise

    def _grant(self, owner: _Owner, lane: _Lane) -> None:
        self._free -= 1
        owner.held += 1
        lane.held += 1

    def give_back(self, name: str, receiver: Receiver) -> None:
        """Let others have a slot that was taken."""
        owner = self._owners[name]
        lane = owner.lanes[receiver]
        self._free += 1
        owner.held -= 1
        lane.held -= 1
        self._refresh(name, owner, receiver, lane)
        self._hand_out()

    def _hand_out(self) -> None:
        """Give free slots to waiting attempts."""
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
                self._grant(owner, lane)
                turn.set_result(None)
            self._refresh(name, owner, receiver, lane)

    def _refresh(self, name: str, owner: _Owner, receiver: Receiver, lane: _Lane) -> None:
        """Enter a lane where it waits for its turn, or remove it; forget what is neither held nor waited for."""
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


class Held(AbstractAsyncContextManager[None]):
    """A slot of one owner at one receiver, for an `async with`. One of contextlib's own takes a microsecond more."""

    __slots__ = ("_owner", "_receiver", "_slots")

    def __init__(self, slots: Slots, owner: str, receiver: Receiver) -> None:
        self._slots = slots
        self._owner = owner
        self._receiver = receiver

    async def __aenter__(self) -> None:
        await self._slots.take(self._owner, self._receiver)

    async def __aexit__(self, *_: object) -> None:
        self._slots.give_back(self._owner, self._receiver)
