"""Commands as bytes and back. A command has the same effect after a round trip.

The format is JSON, one object per command, distinguished by `command`; numbers keep their digits, so that an amount is
what the client sent.
"""

from decimal import Decimal
from functools import reduce
from operator import or_
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from simulator.domain.commands import Command


def plain(value: object) -> object:
    """A read-only mapping as a dict. Raises `NotImplementedError` for what no command may carry."""
    if isinstance(value, MappingProxyType):
        return dict(value)
    raise NotImplementedError(f"a command carries plain data, not {type(value).__name__}")


_ENCODER = msgspec.json.Encoder(decimal_format="number", enc_hook=plain)
if TYPE_CHECKING:
    AnyCommand = Command
else:
    AnyCommand = reduce(or_, Command.__subclasses__())
_DECODER = msgspec.json.Decoder(AnyCommand, float_hook=Decimal)


def write(command: Command) -> bytes:
    """Encode a command as one line of JSON, without a line end."""
    return _ENCODER.encode(command)


def read(line: bytes) -> Command:
    """Decode a command. Raises `msgspec.ValidationError` for invalid input."""
    return _DECODER.decode(line)
