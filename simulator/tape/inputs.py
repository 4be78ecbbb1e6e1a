"""Commands as bytes and back. A command that was read back does what the one that was written would have done.

JSON, one object a command, told apart by `command`; numbers keep their digits, so that an amount is what the client
sent.
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
    """A command as one line of JSON, without its end."""
    return _ENCODER.encode(command)


def read(line: bytes) -> Command:
    """The command that was written. Raises `msgspec.ValidationError` for anything else."""
    command: Command = _DECODER.decode(line)
    return command
