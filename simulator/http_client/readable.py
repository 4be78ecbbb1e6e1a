"""Whether a socket has something to read: an idle connection that has, must not be used for a request."""

import select

_HAS_POLL = hasattr(select, "poll")  # takes any descriptor, select none above 1023; Windows has select alone


def is_readable(descriptor: int) -> bool:
    """Whether bytes or an end wait to be read. The selectors module takes four times as long to say so."""
    if not _HAS_POLL:
        return bool(select.select([descriptor], (), (), 0)[0])
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(0))
