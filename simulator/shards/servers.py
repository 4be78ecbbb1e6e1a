"""The list of servers that share the sandboxes: names and addresses, from a file or from arguments."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from simulator.shards.ring import number_of
from simulator.shortened import shortened

SERVERS_MAX: Final = 1000
FILE_BYTES_MAX: Final = 256 * 1024
NAME: Final = "1 to 32 letters, digits, - and _, beginning with a letter or digit"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*")
_SHOWN_CHARS_MAX = 80


class BadServers(Exception):
    """A list that cannot be used; the text says where, what is wrong and what to do."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server of the list; an IPv6 `host` has no brackets."""

    name: str
    host: str
    port: int

    @property
    def netloc(self) -> str:
        """Return host and port, as in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.netloc}"


def from_words(words: Sequence[str]) -> tuple[Server, ...]:
    """Return the servers of `NAME=URL` words, or of a single word that names a file. Raises `BadServers`."""
    if len(words) == 1 and "=" not in words[0]:
        return from_file(Path(words[0]))
    pairs = []
    for word in words:
        name, sign, url = word.partition("=")
        if not sign:
            raise BadServers(f"{_shown(word)} is not NAME=URL; name one file, or servers as a=http://127.0.0.1:8081")
        pairs.append((name, url, f"{_shown(word)}: "))
    return checked(pairs)


def from_file(path: Path) -> tuple[Server, ...]:
    """Return the servers of a YAML file: `servers` maps names to addresses. Raises `BadServers`."""
    try:
        with path.open("rb") as file:
            text = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise BadServers(f"{path}: {error.strerror}") from None
    if len(text) > FILE_BYTES_MAX:
        raise BadServers(f"{path}: it has more than {FILE_BYTES_MAX // 1024} KiB")
    return checked(_pairs(text, str(path)))


def checked(pairs: Iterable[tuple[str, str, str]]) -> tuple[Server, ...]:
    """Return the servers of (name, address, place in the source) rows, sorted by name. Raises `BadServers`."""
    servers: dict[str, Server] = {}
    numbers: dict[int, str] = {}
    addresses: dict[str, str] = {}
    for name, url, where in pairs:
        server = _server(name, url, where)
        if name in servers:
            raise BadServers(f"{where}the name {name} appears twice")
        if other := addresses.get(server.netloc.lower()):
            raise BadServers(f"{where}{other} and {name} have the same address, {server.url}")
        if other := numbers.get(number_of(name)):
            raise BadServers(f"{where}{other} and {name} would have the same places on the ring; rename one of them")
        servers[name], numbers[number_of(name)], addresses[server.netloc.lower()] = server, name, name
        if len(servers) > SERVERS_MAX:
            raise BadServers(f"there are more than {SERVERS_MAX} servers")
    if not servers:
        raise BadServers("there is no server in the list")
    return tuple(servers[name] for name in sorted(servers))


def is_name(text: str) -> bool:
    """Return whether a text is a valid server name."""
    return _NAME.fullmatch(text) is not None


def _server(name: str, url: str, where: str) -> Server:
    if not is_name(name):
        raise BadServers(f"{where}{_shown(name)} cannot be the name of a server; use {NAME}")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise BadServers(f"{where}{_shown(url)} is no address; use one such as http://127.0.0.1:8081") from None
    if parts.scheme != "http" or not _HOST.fullmatch(host):
        raise BadServers(f"{where}{_shown(url)} is no address of a server; use one such as http://127.0.0.1:8081")
    if parts.path not in ("", "/") or parts.query or parts.fragment or "@" in parts.netloc:
        raise BadServers(f"{where}{_shown(url)} has more than host and port; only these distinguish servers")
    if port == 0:
        raise BadServers(f"{where}{_shown(url)} has the port 0")
    return Server(name, host, 80 if port is None else port)


def _pairs(text: bytes, source: str) -> list[tuple[str, str, str]]:
    """Return names and addresses as written, repeated names included, each with its line."""
    import yaml

    try:
        root = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, UnicodeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark is not None else ""
        raise BadServers(f"{source}{line}: this is not YAML: {getattr(error, 'problem', None) or error}") from None
    found = _members(root, source, "the file")
    if [name for name, _ in found] != ["servers"]:
        raise BadServers(f"{source}: it has a single member, `servers`, with an address for each name")
    pairs = []
    for key, value in _members(found[0][1], source, "`servers`"):
        where = f"{source}:{value.start_mark.line + 1}: "
        if not isinstance(value, yaml.ScalarNode):
            raise BadServers(f"{where}the address of {_shown(key)} is a text such as http://127.0.0.1:8081")
        pairs.append((key, value.value, where))
    return pairs


def _members(node: Any, source: str, what: str) -> list[tuple[str, Any]]:
    import yaml

    if not isinstance(node, yaml.MappingNode):
        raise BadServers(f"{source}: {what} is a mapping such as `servers: {{ a: http://127.0.0.1:8081 }}`")
    named = [(key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)]
    if len(named) != len(node.value):
        raise BadServers(f"{source}: a name is a text")
    return [(key.value, value) for key, value in named]


def _shown(text: str) -> str:
    return repr(shortened(text, _SHOWN_CHARS_MAX))
