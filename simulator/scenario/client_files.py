"""The files of `--scenarios` as clients use them: they have room for what a request has not, and whoever may create
sandboxes names them as often as they like.

So sandboxes that ask for the same large scenario share one, while its files have the same content, and there are so
many different ones at a time. What is read here is read in the background thread alone.
"""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path as FilePath
from weakref import ref

import msgspec

from simulator.domain.errors import Conflict
from simulator.domain.model.scenario import Scenario
from simulator.scenario.reading.bounds import FROM_ANYWHERE, OWN_FILE
from simulator.scenario.reading.bundled import Fingerprint, fingerprint
from simulator.scenario.reading.files import Folder, ScenariosFolder, Unreadable

LARGE_MAX = 8


class _Kept(msgspec.Struct, frozen=True):
    """A large scenario, while a sandbox has it, and what it was made of: each file with the digest of its content."""

    scenario: "ref[Scenario]"
    wanted: bytes
    files: dict[tuple[Folder, str], bytes]
    bundled: Fingerprint

    def is_unchanged(self) -> bool:
        """True when it would be made of the same again."""
        try:
            return self.bundled == fingerprint() and all(
                _digest(folder.read(name)) == digest for (folder, name), digest in self.files.items()
            )
        except Unreadable:
            return False


class _Reads(msgspec.Struct):
    """What one scenario has read so far; `on_large` is called once that is more than a request could have brought."""

    on_large: Callable[[], None]
    files: dict[tuple[Folder, str], bytes] = msgspec.field(default_factory=dict)
    size: int = 0

    @property
    def is_large(self) -> bool:
        """True when files make this scenario large."""
        return self.size > FROM_ANYWHERE.bytes_max

    def add(self, folder: Folder, name: str, content: bytes) -> None:
        """Note a file. Raises `Unreadable` when it is too much with the others, and what `on_large` raises."""
        if (folder, name) in self.files:
            return
        self.size += len(content)
        if self.files and self.size > OWN_FILE.bytes_max:
            raise Unreadable(f"with this one the files of the scenario have more than {OWN_FILE.bytes_max} bytes")
        self.files[folder, name] = _digest(content)
        if self.is_large:
            self.on_large()


class _Noting(msgspec.Struct, frozen=True):
    """A folder that notes what is read."""

    folder: Folder
    reads: _Reads

    def read(self, name: str) -> bytes:
        """See `Folder`."""
        content = self.folder.read(name)
        self.reads.add(self.folder, name, content)
        return content

    def real(self, name: str) -> FilePath:
        """See `Folder`."""
        return self.folder.real(name)

    def source(self, name: str) -> str:
        """See `Folder`."""
        return self.folder.source(name)

    def of(self, name: str) -> "_Noting":
        """See `Folder`."""
        return _Noting(self.folder.of(name), self.reads)


class ClientFiles:
    """The folder, and the large scenarios that the sandboxes of one server have of it."""

    def __init__(self, folder: ScenariosFolder) -> None:
        self.folder = folder
        self._kept: list[_Kept] = []

    def scenario(self, wanted: bytes, load: Callable[[Folder], Scenario]) -> Scenario:
        """What `load` makes of `wanted` and the folder. Raises what it raises, and `Conflict` when there are too many
        large ones."""
        digest = _digest(wanted)
        if (found := self._found(digest)) is not None:
            return found
        bundled, reads = fingerprint(), _Reads(self._refuse_more)
        scenario = load(_Noting(self.folder, reads))
        if reads.is_large:
            self._kept.append(_Kept(ref(scenario), digest, reads.files, bundled))
        return scenario

    def reading(self) -> Folder:
        """The folder for one reading that keeps nothing: of all that is read there is as much as of one scenario."""
        return _Noting(self.folder, _Reads(lambda: None))

    def _found(self, digest: bytes) -> Scenario | None:
        for kept in self._kept:
            if kept.wanted == digest and (scenario := kept.scenario()) is not None and kept.is_unchanged():
                return scenario
        return None

    def _refuse_more(self) -> None:
        self._kept = [kept for kept in self._kept if kept.scenario() is not None]
        if len(self._kept) >= LARGE_MAX:
            text = f"sandboxes have {LARGE_MAX} different scenarios of large files already; delete some first"
            raise Conflict("too_many_large_scenarios", text, "scenario")


def _digest(content: bytes) -> bytes:
    return sha256(content).digest()
