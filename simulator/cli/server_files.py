"""What a server that a team shares reads from files: its certificate and the tokens of its control API."""

import asyncio
import os
import stat
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from simulator.cli.output import one_line, print_to_stderr
from simulator.cli.server_flags import ServerFlags
from simulator.cli.usage import CannotStart
from simulator.cli.values import BadToken, token_of
from simulator.server.regular_files import CannotRead, content_of

if TYPE_CHECKING:
    import ssl

    from simulator.app import App
    from simulator.control.access import Token
    from simulator.server.serve import Server
    from simulator.server.tls import Handshakes
    from simulator.server.validity import Validity


def reads_again(flags: ServerFlags) -> bool:
    """Whether SIGHUP has something to read again; otherwise it ends the server, as it does any program."""
    return bool(flags.tls_cert or flags.control_tokens or flags.control_token_file)


def handshakes_of(flags: ServerFlags) -> "Handshakes | None":
    """TLS, when the flags ask for it. Raises `CannotStart`, and a usage error for one file without the other."""
    if (flags.tls_cert is None) != (flags.tls_key is None):
        missing = "--tls-key" if flags.tls_key is None else "--tls-cert"
        raise click.UsageError(f"{missing} is missing: give both, or neither", click.get_current_context(silent=True))
    if flags.tls_key is None:
        return None
    from simulator.server.tls import Handshakes

    try:
        return Handshakes(_context(flags))
    except Unusable as wrong:
        raise CannotStart(one_line(f"reseller-sim: {wrong}")) from None


def tokens_of(flags: ServerFlags) -> "tuple[Token, ...]":
    """The tokens of `--control-tokens`. Raises `CannotStart`."""
    if flags.control_token_file is not None:
        warn_of_readers(flags.control_token_file.path)
    if flags.control_tokens is None:
        return ()
    try:
        return _tokens(flags)
    except Unusable as wrong:
        raise CannotStart(one_line(f"reseller-sim: {wrong}")) from None


def let_reload(flags: ServerFlags, app: "App", server: "Server") -> None:
    """Let the server read its files again with SIGHUP, where it has some."""
    if not reads_again(flags):
        return
    from simulator.runtime.background import in_background

    reloading = Reloading(_tell, in_background)
    handshakes = server.handshakes
    if handshakes is not None:

        def certificate() -> Apply:
            context, valid = _context(flags), _validities(flags)

            def apply() -> None:
                handshakes.context = context
                _tell_of_times(flags, app, valid)

            return apply

        reloading.add("the certificate", certificate)
        try:
            _tell_of_times(flags, app, _validities(flags))
        except Unusable as wrong:  # it went away just now
            raise CannotStart(one_line(f"reseller-sim: {wrong}")) from None
    if flags.control_tokens is not None:

        def tokens() -> Apply:
            found = _tokens(flags)
            return lambda: app.use_tokens(app.options.control_token, found)

        reloading.add("the list of tokens", tokens)
    if flags.control_token_file is not None:
        path = flags.control_token_file.path

        def token() -> Apply:
            found = _token(path)
            return lambda: app.use_tokens(found, app.tokens)

        reloading.add("the control token", token)
    server.on_hangup = reloading.on_hangup


def _context(flags: ServerFlags) -> "ssl.SSLContext":
    from simulator.server.tls import context_of

    assert flags.tls_cert is not None
    assert flags.tls_key is not None
    warn_of_readers(flags.tls_key)
    with _reading_certificate():
        return context_of(flags.tls_cert, flags.tls_key)


def _validities(flags: ServerFlags) -> "tuple[Validity, ...]":
    from simulator.server.tls import validities_of

    assert flags.tls_cert is not None
    with _reading_certificate():
        return validities_of(flags.tls_cert)


@contextmanager
def _reading_certificate() -> Iterator[None]:
    """What cannot be read is `Unusable`."""
    from simulator.server.tls import BadCertificate

    try:
        yield
    except BadCertificate as wrong:
        raise Unusable(str(wrong)) from None


def _tell_of_times(flags: ServerFlags, app: "App", valid: "tuple[Validity, ...]") -> None:
    """Have the metrics say when the first certificate expires, and stderr which ones clients will not accept now. They
    are served nevertheless: some clients look at no time, and a test may want just that."""
    app.operations.certificate_ends_s = min((one.ends.timestamp() for one in valid), default=None)
    now = datetime.now(UTC)
    for problem in filter(None, (one.problem(now) for one in valid)):
        do = "clients refuse it; put another one in its place and send SIGHUP"
        _tell(f"{flags.tls_cert}: {problem}: {do}")


def _tokens(flags: ServerFlags) -> "tuple[Token, ...]":
    from simulator.control.access import FILE_BYTES_MAX, BadTokens, parsed_tokens

    path = flags.control_tokens
    assert path is not None
    warn_of_readers(path)
    try:
        return parsed_tokens(content_of(path, FILE_BYTES_MAX))
    except (BadTokens, CannotRead) as wrong:
        raise Unusable(f"{path}: {wrong}") from None


def _token(path: str) -> str:
    warn_of_readers(path)
    try:
        return token_of(content_of(path, 64 * 1024))
    except (BadToken, CannotRead) as wrong:
        raise Unusable(f"{path}: {wrong}") from None


def _tell(line: str) -> None:
    print_to_stderr(one_line(f"reseller-sim: {line}"))


PAUSE_S = 0.2  # between two rounds: whoever sends a thousand signals gets a few lines on stderr

Apply = Callable[[], None]


class Unusable(ValueError):
    """What was read cannot be used; the text says which file, and why."""


class Reloading:
    """Reads again what can be: each part is read beside the event loop, and what it returns is then done in the loop,
    or it raises `Unusable`. Signals that come meanwhile lead to one more round, however many there are."""

    def __init__(
        self, tell: Callable[[str], None], background: Callable[[Callable[[], Apply]], Awaitable[Apply]]
    ) -> None:
        self._tell = tell
        self._background = background
        self._parts: dict[str, Callable[[], Apply]] = {}
        self._round: asyncio.Task[None] | None = None
        self._is_asked_again = False

    def add(self, what: str, read: Callable[[], Apply]) -> None:
        """One more part; `what` is how it is told of."""
        self._parts[what] = read

    def __bool__(self) -> bool:
        return bool(self._parts)

    def on_hangup(self) -> None:
        """Begin a round, or one more behind the one that is under way. In the event loop."""
        if self._round is not None and not self._round.done():
            self._is_asked_again = True
        else:
            self._round = asyncio.get_running_loop().create_task(self._rounds())

    async def _rounds(self) -> None:
        self._is_asked_again = True
        while self._is_asked_again:
            self._is_asked_again = False
            for what, read in self._parts.items():
                try:
                    apply = await self._background(read)
                except Unusable as wrong:
                    self._tell(f"SIGHUP: {wrong}; {what} stays as it was")
                else:
                    apply()
                    self._tell(f"SIGHUP: {what} is read again")
            if self._is_asked_again:
                await asyncio.sleep(PAUSE_S)


def warn_of_readers(path: str | os.PathLike[str]) -> None:
    """Say on stderr that others than its owner can read a file with secrets, if they can."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return
    if stat.S_ISREG(mode) and mode & (stat.S_IRGRP | stat.S_IROTH):
        who = "everybody" if mode & stat.S_IROTH else "its group"
        name = os.fspath(path)
        print_to_stderr(one_line(f"reseller-sim: {name}: {who} can read this secret; chmod 600 {name}"))
