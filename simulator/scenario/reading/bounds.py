"""How large a scenario may be: small from the network; a file has room for the catalog of a large account."""

import msgspec

BYTES_MAX = 1024 * 1024
NODES_MAX = 25_000


class Bounds(msgspec.Struct, frozen=True):
    """The most bytes of its text, and the most values in it, keys included."""

    bytes_max: int = BYTES_MAX
    nodes_max: int = NODES_MAX

    @property
    def too_long(self) -> str:
        """What is said of too many bytes."""
        return f"a scenario has at most {self.bytes_max} bytes"

    @property
    def too_many(self) -> str:
        """What is said of too many values."""
        return f"a scenario has at most {self.nodes_max} values"


FROM_ANYWHERE = Bounds()  # bodies of the control API
OWN_FILE = Bounds(
    16 * BYTES_MAX, 40 * NODES_MAX
)  # also those of `--scenarios`: clients name them, the owner writes them
