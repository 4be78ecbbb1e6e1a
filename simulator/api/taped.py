"""Notes on the tape a request that is no ordinary one: it waited, or another sandbox than its own recorded it."""

from simulator.api.call import Call
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.tape.entries import RequestShown


def note_waited(call: Call, recorded_by: LiveSandbox, size: int) -> None:
    """Note an answered call whose record, of `size` bytes, is in the journal of `recorded_by`."""
    own = call.sandbox
    if call.tape is None and not call.is_lost:
        own.tape.add(call.exchange, size)
    elif call.tape is own.tape:
        own.tape.answer(call.exchange, size)
    if recorded_by is not own or (call.tape is not own.tape and call.is_lost):
        recorded_by.tape.add(RequestShown(call.exchange), size)
