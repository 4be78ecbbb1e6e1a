"""Files of a shared server that SIGHUP reloads: its certificate and its tokens."""

import asyncio
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from simulator.cli.output import print_to_stderr
from simulator.cli.server_flags import ServerFlags
from simulator.cli.usage import CannotStart, wrong_usage
from simulator.cli.values import BadToken, token_of
from simulator.server.regular_files import CannotRead, content_of
from simulator.shortened import whole_line

if TYPE_CHECKING:
    import ssl

    from simulator.app import App
    from simulator.control.access import Token
    from simulator.server.tls import TlsSettings
    from simulator.server.uvicorn_server import Server


class InvalidServerFile(ValueError):
    """The content of a file is invalid. The text names the file and the reason."""


def reads_again(flags: ServerFlags) -> bool:
    """Return whether SIGHUP has files to reload. Otherwise it ends the server, as it ends any program."""
    return bool(flags.tls_cert or flags.control_tokens or flags.control_token_file)


def tls_of(flags: ServerFlags) -> "TlsSettings | None":
    """Return the settings of TLS, if the flags ask for it. Raises `CannotStart`, and a usage error if the certificate
    or the key is missing."""
    if (flags.tls_cert is None) != (flags.tls_key is None):
        missing = "--tls-key" if flags.tls_key is None else "--tls-cert"
        raise wrong_usage(f"{missing} is missing: give both, or neither")
    if flags.tls_cert is None or flags.tls_key is None:
        return None
    from simulator.server.tls import TlsSettings

    with _starting():
        return TlsSettings(_context(flags.tls_cert, flags.tls_key))


def tokens_of(flags: ServerFlags) -> "tuple[Token, ...]":
    """Return the tokens of `--control-tokens`. Raises `CannotStart`."""
    if flags.control_token_file is not None:
        warn_of_readers(flags.control_token_file.path)
    with _starting():
        return () if flags.control_tokens is None else _tokens(flags.control_tokens)


def reload_on_hangup(flags: ServerFlags, app: "App", server: "Server") -> None:
    """Reload the server's files on SIGHUP, if it has any. Raises `CannotStart`."""
    if not reads_again(flags):
        return
    if flags.tls_cert is not None:
        with _starting():
            _look_at_times(flags.tls_cert, app)
    server.on_hangup = Reloader(list(_parts(flags, app, server))).on_hangup


def _parts(flags: ServerFlags, app: "App", server: "Server") -> "Iterator[ReloadedFile]":
    cert, key, tls = flags.tls_cert, flags.tls_key, server.tls
    if cert is not None and key is not None and tls is not None:

        def use(context: "ssl.SSLContext") -> None:
            tls.context = context
            _look_at_times(cert, app)

        yield ReloadedFile("the certificate", partial(_context, cert, key), use)
    if flags.control_tokens is not None:
        read = partial(_tokens, flags.control_tokens)
        yield ReloadedFile("the list of tokens", read, lambda found: app.use_tokens(app.options.control_token, found))
    if flags.control_token_file is not None:
        read_one = partial(_token, flags.control_token_file.path)
        yield ReloadedFile("the control token", read_one, lambda found: app.use_tokens(found, app.tokens))


class ReloadedFile(NamedTuple):
    """A file that SIGHUP reloads: its name in messages, a function that reads it, and a function that applies what was
    read, in the event loop."""

    name: str
    read: Callable[[], Any]
    use: Callable[[Any], None]


class Reloader:
    """Reloads the files outside the event loop, one reload after another. An invalid file changes nothing."""

    def __init__(self, files: list[ReloadedFile]) -> None:
        self._files = files
        self._lock = asyncio.Lock()
        self._reloads: set[asyncio.Task[None]] = set()

    def on_hangup(self) -> None:
        """Begin a reload. Called in the event loop."""
        task = asyncio.get_running_loop().create_task(self._reload())
        self._reloads.add(task)
        task.add_done_callback(self._reloads.discard)

    async def _reload(self) -> None:
        from simulator.runtime.background import in_background

        async with self._lock:
            for file in self._files:
                try:
                    file.use(await in_background(file.read))
                    _tell(f"SIGHUP: {file.name} is read again")
                except InvalidServerFile as wrong:
                    _tell(f"SIGHUP: {wrong}; {file.name} stays as it was")


@contextmanager
def _starting() -> Iterator[None]:
    """Raise `CannotStart` for a file that is invalid at start-up."""
    try:
        yield
    except InvalidServerFile as wrong:
        raise CannotStart(whole_line(f"reseller-sim: {wrong}")) from None


def _context(cert: Path, key: Path) -> "ssl.SSLContext":
    from simulator.server.tls import BadCertificate, context_of

    warn_of_readers(key)
    try:
        return context_of(cert, key)
    except BadCertificate as wrong:
        raise InvalidServerFile(str(wrong)) from None


def _look_at_times(cert: Path, app: "App") -> None:
    """Record the certificate's expiry in the metrics, and print a warning if clients will not accept it now. The server
    uses it nevertheless: some clients ignore the dates, and a test may need an expired certificate."""
    from simulator.server.tls import BadCertificate, validity_of

    try:
        valid = validity_of(cert)
    except BadCertificate as wrong:
        raise InvalidServerFile(str(wrong)) from None
    app.operations.certificate_ends_s = valid.ends.timestamp()
    if problem := valid.problem(datetime.now(UTC)):
        _tell(f"{cert}: {problem}: clients refuse it; replace it and send SIGHUP")


def _tokens(path: Path) -> "tuple[Token, ...]":
    from simulator.control.access import FILE_BYTES_MAX, BadTokens, parsed_tokens

    warn_of_readers(path)
    try:
        return parsed_tokens(content_of(path, FILE_BYTES_MAX))
    except (BadTokens, CannotRead) as wrong:
        raise InvalidServerFile(f"{path}: {wrong}") from None


def _token(path: str) -> str:
    from simulator.control.access import FILE_BYTES_MAX

    warn_of_readers(path)
    try:
        return token_of(content_of(path, FILE_BYTES_MAX))
    except (BadToken, CannotRead) as wrong:
        raise InvalidServerFile(f"{path}: {wrong}") from None


def _tell(line: str) -> None:
    print_to_stderr(whole_line(f"reseller-sim: {line}"))


def warn_of_readers(path: str | os.PathLike[str]) -> None:
    """Say on stderr that others than its owner can read a file with secrets, if they can."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return
    if stat.S_ISREG(mode) and mode & (stat.S_IRGRP | stat.S_IROTH):
        who = "everybody" if mode & stat.S_IROTH else "its group"
        _tell(f"{os.fspath(path)}: {who} can read this secret; chmod 600 {os.fspath(path)}")
