"""A mark as it is written into a store."""

import msgspec

from simulator.runtime.marks import Mark


class KeptMark(msgspec.Struct, frozen=True, gc=False):
    """A mark, and the order in which those of a life were made: several may stand at one place."""

    mark: Mark
    serial: int
