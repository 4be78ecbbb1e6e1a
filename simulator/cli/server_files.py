"""Files of a shared server that SIGHUP reloads: its certificate and its tokens."""

import asyncio
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.app import App
from simulator.cli.process import print_server_note
from simulator.cli.server_flags import ServerFlags
from simulator.cli.usage import CannotStart, wrong_usage
from simulator.cli.values import token_of
from simulator.control.access import FILE_BYTES_MAX, Token, parsed_tokens
from simulator.runtime.background import in_background
from simulator.server.regular_files import content_of
from simulator.server.serve import Server

if TYPE_CHECKING:
    import ssl

    from simulator.server.tls import TlsSettings


ReloadedFile = tuple[str, Callable[[], Any], Callable[[Any], None]]
"""A file that SIGHUP reloads: its name in messages, a function that reads it, and a function that applies what it read,
in the event loop."""


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


def tokens_of(flags: ServerFlags) -> tuple[Token, ...]:
    """Return the tokens of `--control-tokens`. Raises `CannotStart`."""
    if flags.control_token_file is not None:
        warn_of_readers(flags.control_token_file.path)
    with _starting():
        return () if flags.control_tokens is None else _secrets(flags.control_tokens, parsed_tokens)


def reload_on_hangup(flags: ServerFlags, app: App, server: Server) -> None:
    """Reload the server's files on SIGHUP, if it has any, outside the event loop. An invalid file changes nothing.
    Raises `CannotStart`."""
    if not reads_again(flags):
        return
    if flags.tls_cert is not None:
        with _starting():
            _look_at_times(flags.tls_cert, app)
    files, lock, reloads = list(_parts(flags, app, server)), asyncio.Lock(), set[asyncio.Task[None]]()

    async def reload() -> None:
        async with lock:
            for name, read, use in files:
                try:
                    use(await in_background(read))
                    print_server_note(f"SIGHUP: {name} is read again")
                except InvalidServerFile as wrong:
                    print_server_note(f"SIGHUP: {wrong}; {name} stays as it was")

    def on_hangup() -> None:
        task = asyncio.get_running_loop().create_task(reload())
        reloads.add(task)
        task.add_done_callback(reloads.discard)

    server.on_hangup = on_hangup


def _parts(flags: ServerFlags, app: App, server: Server) -> Iterator[ReloadedFile]:
    cert, key, tls = flags.tls_cert, flags.tls_key, server.tls
    if cert is not None and key is not None and tls is not None:

        def use(context: "ssl.SSLContext") -> None:
            tls.context = context
            _look_at_times(cert, app)

        yield "the certificate", partial(_context, cert, key), use
    if flags.control_tokens is not None:
        read = partial(_secrets, flags.control_tokens, parsed_tokens)
        yield "the list of tokens", read, lambda found: app.use_tokens(app.options.control_token, found)
    if flags.control_token_file is not None:
        read_one = partial(_secrets, flags.control_token_file.path, token_of)
        yield "the control token", read_one, lambda found: app.use_tokens(found, app.tokens)


@contextmanager
def _starting() -> Iterator[None]:
    """Raise `CannotStart` for a file that is invalid at start-up."""
    try:
        yield
    except InvalidServerFile as wrong:
        raise CannotStart(wrong) from None


def _context(cert: Path, key: Path) -> "ssl.SSLContext":
    from simulator.server.tls import BadCertificate, context_of

    warn_of_readers(key)
    try:
        return context_of(cert, key)
    except BadCertificate as wrong:
        raise InvalidServerFile(str(wrong)) from None


def _look_at_times(cert: Path, app: App) -> None:
    """Record the certificate's expiry in the metrics, and print a warning if clients will not accept it now. The server
    uses it nevertheless: some clients ignore the dates, and a test may need an expired certificate."""
    from simulator.server.tls import BadCertificate, validity_of

    try:
        valid = validity_of(cert)
    except BadCertificate as wrong:
        raise InvalidServerFile(str(wrong)) from None
    app.operations.certificate_ends_s = valid.ends.timestamp()
    if problem := valid.problem(datetime.now(UTC)):
        print_server_note(f"{cert}: {problem}: clients refuse it; replace it and send SIGHUP")


def _secrets(path: str | Path, parse: Callable[[bytes], Any]) -> Any:
    """Return what a file of secrets has."""
    warn_of_readers(path)
    try:
        return parse(content_of(path, FILE_BYTES_MAX))
    except ValueError as wrong:  # of the reader or the parser
        raise InvalidServerFile(f"{path}: {wrong}") from None


def warn_of_readers(path: str | os.PathLike[str]) -> None:
    """Say on stderr that others than its owner can read a file with secrets, if they can."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return
    if stat.S_ISREG(mode) and mode & (stat.S_IRGRP | stat.S_IROTH):
        who = "everybody" if mode & stat.S_IROTH else "its group"
        print_server_note(f"{os.fspath(path)}: {who} can read this secret; chmod 600 {os.fspath(path)}")
