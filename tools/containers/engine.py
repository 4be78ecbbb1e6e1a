"""Run containers without an engine: an image is a folder, and a process has its own root, network and process id.

`unshare` creates these as an engine would. The base image is this machine, read-only. Layers, service names and limits
are not emulated.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.support.processes import DEADLINE_S, ROOT
from tests.support.programs import program
from tools.containers.dockerfiles import Stage, context, stages

BASE_FOLDERS = ("usr", "lib", "lib64", "bin", "sbin")
NAMED = "/named"  # where python is, as in the image: some systems have a python3 alone
IGNORED = ("__pycache__",)
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LOOPBACK_UP = """
import fcntl, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 0x1 | 0x40))
print("up", flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True)
class Image:
    """A root folder, and the stage that describes how processes start in it."""

    root: Path
    stage: Stage


@dataclass(frozen=True)
class Network:
    """A network with only a loopback address, shared by several containers."""

    holder: int

    def command(
        self, image: Image, words: Sequence[str], *, binds: dict[str, Path], read_only: bool, **variables: str
    ) -> list[str]:
        """Return the command that starts a process in an image: its user without privileges, its folder, its
        variables."""
        stage = image.stage
        uid, _, gid = stage.user.partition(":")
        drop = [
            f"--reuid={uid}",
            f"--regid={gid}",
            "--clear-groups",
            "--no-new-privs",
            "--inh-caps=-all",
            "--bounding-set=-all",
            "--pdeathsig=KILL",  # changing the user clears the signal that unshare has set
        ]
        given = [f"{name}={value}" for name, value in (stage.variables | {"HOME": "/"} | variables).items()]
        started = [
            "chroot",
            str(image.root),
            "/usr/bin/setpriv",
            *drop,
            "/usr/bin/env",
            "-i",
            "-C",
            stage.folder,
            *given,
            *words,
        ]
        mounts = _mounts(image.root, binds, read_only=read_only)
        script = f"{mounts}\nexec {shlex.join(started)}"
        return [program("nsenter"), f"--net=/proc/{self.holder}/ns/net", *_apart(script)]


def _apart(script: str) -> list[str]:
    return [program("unshare"), "--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-ec", script]


@contextmanager
def network() -> Iterator[Network]:
    """Create a network that exists as long as the context."""
    command = [program("unshare"), "--net", sys.executable, "-c", LOOPBACK_UP]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == "up\n"
        try:
            yield Network(holder.pid)
            assert _living_in(holder.pid) == [], "what runs in a container ends with it"
        finally:
            holder.stdin.close()


def _living_in(holder: int) -> list[str]:
    """Return the commands of all other processes in the network of this process."""
    here = os.readlink(f"/proc/{holder}/ns/net")
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has just ended
            if process.name != str(holder) and os.readlink(process / "ns" / "net") == here:
                found.append((process / "cmdline").read_text().replace("\0", " "))
    return found


def _mounts(root: Path, binds: dict[str, Path], *, read_only: bool) -> str:
    """Return the shell commands that turn a folder into a root: this machine as base, devices, and bind mounts."""
    tops = (Path("/", name) for name in BASE_FOLDERS)
    base = [path for path in tops if path.is_dir() and not path.is_symlink()]
    base.append(Path(sys.base_prefix))
    lines = [f"mount --bind {root} {root}"]
    for path in base:
        lines.append(f"mount --bind {path} {root}{path}; mount -o remount,ro,bind {root}{path}")
    lines += [f"mount --bind /dev/{name} {root}/dev/{name}" for name in ("null", "urandom")]
    lines.append(f"mount -t proc proc {root}/proc")
    if read_only:
        lines.append(f"mount -o remount,ro,bind {root}")
    lines += [f"mount --bind {outside} {root}{inside}" for inside, outside in binds.items()]
    return "\n".join(lines)


def empty_root(root: Path, places: Sequence[str] = ()) -> Path:
    """Create a root on which the base can be mounted."""
    for name in ("dev", "proc", "tmp", "etc", *places):
        (root / name.lstrip("/")).mkdir(parents=True, exist_ok=True)
    root.chmod(0o755)
    (root / "tmp").chmod(0o1777)
    for name in ("null", "urandom"):
        (root / "dev" / name).touch()
    (root / "etc" / "hosts").write_text("127.0.0.1 localhost reseller-sim shop\n")
    for name in BASE_FOLDERS:
        if Path("/", name).is_symlink():
            (root / name).symlink_to(os.readlink(f"/{name}"))
        elif Path("/", name).is_dir():
            (root / name).mkdir()
    (root / sys.base_prefix.lstrip("/")).mkdir(parents=True, exist_ok=True)
    (root / NAMED.lstrip("/")).mkdir()
    (root / NAMED.lstrip("/") / "python").symlink_to(Path(sys.base_prefix, "bin", "python3"))
    return root


def images(folder: Path) -> list[Image]:
    """Return the stages of our Dockerfile as images in a folder, built or not; the last one is the final image."""
    base = {"PATH": f"{sys.base_prefix}/bin:{SYSTEM_PATH}:{NAMED}"}
    read = stages((ROOT / "Dockerfile").read_text("utf-8"), base)
    return [Image(folder / str(number), stage) for number, stage in enumerate(read)]


def build(folder: Path, wheels: Path) -> None:
    """Build our Dockerfile in a folder. Packages come from a folder of wheels, without an index."""
    made: dict[str, Image] = {}
    for image in images(folder):
        empty_root(image.root, ("wheels",))
        for word, rest, working in image.stage.steps:
            (image.root / working.lstrip("/")).mkdir(parents=True, exist_ok=True)
            if word == "COPY":
                _copy(rest, working, image, made)
            else:
                _run(rest, working, image, wheels)
        made[image.stage.name] = image


def _copy(rest: str, working: str, image: Image, made: dict[str, Image]) -> None:
    *sources, target = rest.split()
    source_root, made_here = ROOT, False
    if sources[0].startswith("--from="):
        made_here = True
        source_root = made[sources.pop(0).removeprefix("--from=")].root
    else:
        assert set(sources) <= context(ROOT), "what .dockerignore keeps out cannot be copied"
    to = image.root / os.path.join(working, target).lstrip("/")
    for source in sources:
        path = source_root / source.lstrip("/")
        if path.is_dir():
            shutil.copytree(path, to, symlinks=True, ignore=shutil.ignore_patterns(*(() if made_here else IGNORED)))
        else:
            to.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, to)


def _run(command: str, working: str, image: Image, wheels: Path) -> None:
    variables = (
        image.stage.variables | image.stage.arguments | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/wheels", "HOME": "/"}
    )
    given = [f"{name}={value}" for name, value in variables.items()]
    inside = [
        "chroot",
        str(image.root),
        "/usr/bin/env",
        "-i",
        "-C",
        working,
        *given,
        "/bin/sh",
        "-ec",
        command,
    ]
    script = f"{_mounts(image.root, {'/wheels': wheels}, read_only=False)}\nexec {shlex.join(inside)}"
    done = subprocess.run(_apart(script), capture_output=True, text=True, timeout=4 * DEADLINE_S, check=False)
    assert done.returncode == 0, done.stderr
