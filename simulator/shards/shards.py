"""The list of servers as seen by a single server: the owner of a sandbox, and whether it is this server."""

from collections.abc import Sequence

from simulator.shards.ring import Ring, digest
from simulator.shards.servers import BadServers, Server


class Shards:
    """All servers by name, and the name of this server. Raises `BadServers` when its name is not in the list."""

    def __init__(self, servers: Sequence[Server], own: str) -> None:
        self.servers = {one.name: one for one in servers}
        if own not in self.servers:
            raise BadServers(f"there is no server {own!r} in the list; it has {', '.join(self.servers)}")
        self.own = self.servers[own]
        self._ring = Ring(self.servers)
        self.digest = digest(self.servers)

    def owner(self, sandbox_id: str) -> Server:
        """Return the server that has, or would have, the sandbox of this id."""
        return self.servers[self._ring.owner(sandbox_id)]

    def is_ours(self, sandbox_id: str) -> bool:
        """Return whether this server has the sandbox."""
        return self.owner(sandbox_id) is self.own
