"""Commands as bytes and back. A command has the same effect after a round trip.

The format is JSON, one object per command, distinguished by `command`; numbers keep their digits, so that an amount is
what the client sent.
"""

from decimal import Decimal
from functools import reduce
from operator import or_
from typing import Any

import msgspec

from simulator.domain.commands import Command

_ENCODER = msgspec.json.Encoder(decimal_format="number")
_ANY_COMMAND: Any = reduce(or_, Command.__subclasses__())
_DECODER = msgspec.json.Decoder(_ANY_COMMAND, float_hook=Decimal)


def write(command: Command) -> bytes:
    """Encode a command as one line of JSON, without a line end."""
    return _ENCODER.encode(command)


def read(line: bytes) -> Command:
    """Decode a command. Raises `msgspec.ValidationError` for invalid input."""
    command: Command = _DECODER.decode(line)
    return command
