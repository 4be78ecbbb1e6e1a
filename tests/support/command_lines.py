"""Commands as lines of JSON, and back."""

from decimal import Decimal

import msgspec

from simulator.domain.commands import Command
from simulator.persistence.tape.entries import AnyCommand, plain

_ENCODER = msgspec.json.Encoder(decimal_format="number", enc_hook=plain)
_DECODER = msgspec.json.Decoder(AnyCommand, float_hook=Decimal)


def write(command: Command) -> bytes:
    """Encode a command as a line of JSON, without a line end."""
    return _ENCODER.encode(command)


def read(line: bytes) -> Command:
    """Decode a command. Raises `msgspec.ValidationError` for invalid input."""
    command: Command = _DECODER.decode(line)
    return command
