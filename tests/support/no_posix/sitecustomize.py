"""Python without what only POSIX systems have: with this folder in PYTHONPATH a process has no fcntl, fork, pread,
killpg, uvloop, signal handlers of a loop, and more that Windows lacks. Paths, open files and the console stay.
"""

import asyncio.unix_events
import os
import signal
import sys
from typing import NoReturn

MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty", "uvloop")
OF_OS = (
    "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "fchmod", "fork", "getegid", "geteuid", "getgid", "getpgid",
    "getuid", "killpg", "mkfifo", "openpty", "pread", "pwrite", "sched_getaffinity", "sched_setaffinity", "setsid",
)  # fmt: skip
OF_SIGNAL = ("SIGALRM", "SIGHUP", "SIGKILL", "SIGQUIT", "SIGUSR1", "SIGUSR2", "pthread_sigmask")

for name in MODULES:
    sys.modules[name] = None  # type: ignore[assignment]  # so that an import fails
for module, names in ((os, OF_OS), (signal, OF_SIGNAL)):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)


def _missing(*arguments: object, **named: object) -> NoReturn:
    raise NotImplementedError


asyncio.unix_events._UnixSelectorEventLoop.add_signal_handler = _missing  # type: ignore[method-assign]
asyncio.unix_events._UnixSelectorEventLoop.remove_signal_handler = _missing  # type: ignore[method-assign]
