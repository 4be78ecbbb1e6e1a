"""A printed curl command taken apart again, as the shell and curl would read it."""

import shlex
import shutil
import subprocess
from dataclasses import dataclass, field

from tests.support.processes import DEADLINE_S


@dataclass
class Parsed:
    """The request that curl would send."""

    method: str = "GET"
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    flags: list[str] = field(default_factory=list)


def parse_curl(command: str) -> Parsed:
    """Take a `curl` command apart; the part before a pipe is run by the shell, for the body."""
    piped, _, command = command.rpartition(" | curl ")
    words = shlex.split(command.removeprefix("curl "))
    parsed = Parsed()
    while words:
        word = words.pop(0)
        if word == "-X":
            parsed.method = words.pop(0)
        elif word == "-H":
            name, _, value = words.pop(0).partition(": ")
            parsed.headers[name] = value
        elif word == "--data-raw":
            parsed.body = words.pop(0).encode()
        elif word == "--data-binary":
            assert words.pop(0) == "@-"
            parsed.body = subprocess.run(["/bin/sh", "-c", piped], capture_output=True, check=True).stdout
        elif word.startswith("--"):
            parsed.flags.append(word)
        else:
            parsed.url = word
    return parsed


def paste(command: str) -> str | None:
    """Return the stdout of a shell command as text; None on a machine without curl."""
    if shutil.which("curl") is None:
        return None
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, timeout=DEADLINE_S, check=True)
    return done.stdout.decode()
