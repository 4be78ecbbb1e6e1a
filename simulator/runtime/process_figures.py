"""This process in numbers: memory, processor time, open files; what a system does not tell is left out."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_SELF = Path("/proc/self")


def process_figures() -> dict[str, float]:
    """By name: `resident_bytes`, `virtual_bytes`, `cpu_s`, `open_files`, `open_files_max`."""
    return {"cpu_s": time.process_time(), **dict(_memory()), **dict(_files())}


def _memory() -> Iterator[tuple[str, float]]:
    with suppress(OSError, ValueError):  # another system than Linux
        total, resident, *_ = (_SELF / "statm").read_text().split()
        page = os.sysconf("SC_PAGE_SIZE")
        yield "virtual_bytes", int(total) * page
        yield "resident_bytes", int(resident) * page


def _files() -> Iterator[tuple[str, float]]:
    with suppress(OSError):
        yield "open_files", len(os.listdir(_SELF / "fd"))
    with suppress(ImportError):
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY:
            yield "open_files_max", soft
