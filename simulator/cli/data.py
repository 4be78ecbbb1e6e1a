"""`reseller-sim data`: maintenance of data folders, and moving sandboxes between them and PostgreSQL."""

import shutil
import sys
from collections.abc import Callable, Collection, Iterable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import click

from simulator.cli.flags import own_option
from simulator.cli.output import echo, print_to_stderr
from simulator.cli.reports.tapes import SECRET_MODE
from simulator.cli.usage import CannotStart, verb
from simulator.shortened import whole_line

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from simulator.api.request_replayer import RequestReplayer
    from simulator.persistence.reader import Reader


INSTALL: Final = "pip install 'reseller-sim[postgres]'"
ACTIONS: Final = ("check", "export", "import", "remove", "compact", "backup")


@verb("data")
@click.argument("action", metavar="|".join(ACTIONS), type=click.Choice(ACTIONS))
@click.argument("place", metavar="DIR|URL", type=click.Path())
@click.argument("file", metavar="[FILE]", type=click.Path(path_type=Path), required=False)
@own_option("--sandbox", metavar="ID", help="The sandbox that is exported or removed.  [default: default]")
@own_option("--tape", is_flag=True, help="Export its tape, for `replay`.")
@own_option("--tape-secrets", is_flag=True, help="Keep the secrets on the tape.")
@own_option("--replace", is_flag=True, help="Replace an existing sandbox of this name.")
@click.pass_context
def data_command(
    ctx: click.Context,
    /,
    action: str,
    place: str,
    file: Path | None,
    sandbox: str | None,
    tape: bool,
    tape_secrets: bool,
    replace: bool,
) -> int:
    """Check, move, remove, compact or back up a data folder.

    DIR is a folder of `serve --data-dir`. `check`, `export` and `backup` do not change it, and may run while a
    server has the folder open. The others need a folder that no server has open. `export` and `import` also take the
    address of a PostgreSQL database of `serve --store`, whose servers may run.

    `check` reads everything and prints damage, with exit code 1. `export` writes the sandbox of --sandbox
    (`default`) into FILE or to stdout: with its state and secrets, for `import`, or with --tape as a tape, for
    `replay`. `import` adds the sandbox of FILE; --replace replaces a sandbox of the same name. `remove` deletes the
    sandbox of --sandbox. `compact` checks the folder and returns free space to the system. `backup` copies the
    folder into FILE, an empty or a new folder.

    \b
    Examples:
      reseller-sim data check data
      reseller-sim data export data shop.sandbox --sandbox shop
      reseller-sim data import other shop.sandbox --replace
      reseller-sim data remove data --sandbox shop
      reseller-sim data export data shop.tape --sandbox shop --tape
      reseller-sim data compact data
      reseller-sim data backup data backups/monday
      reseller-sim data import postgresql://sim@db.example.com/sim shop.sandbox
    """
    if (action in ("check", "compact", "remove") and file) or (action in ("import", "backup") and file is None):
        wanted = "no FILE" if file else "a FILE to read from" if action == "import" else "a folder to copy into"
        raise click.UsageError(f"data {action} takes DIR and {wanted}", ctx)
    if (tape or tape_secrets) and action != "export":
        raise click.UsageError("--tape and --tape-secrets belong to data export", ctx)
    if replace and action != "import":
        raise click.UsageError("--replace belongs to data import", ctx)
    if sandbox is not None and action not in ("export", "remove"):
        raise click.UsageError("--sandbox belongs to data export and data remove", ctx)
    if sandbox is None and action == "remove":
        raise click.UsageError("data remove needs --sandbox ID", ctx)
    folder, is_database = Path(place), place.startswith(("postgresql://", "postgres://"))
    if is_database and action not in ("export", "import"):
        raise click.UsageError(f"data {action} takes a folder; PostgreSQL has tools of its own", ctx)
    from simulator.persistence.errors import StoreError

    is_tape, other = tape or tape_secrets, file or Path()
    if is_database:
        return _move(action, place, file, sandbox or "default", is_tape=is_tape, shows=tape_secrets, replaces=replace)
    actions: dict[str, Callable[[], int | None]] = {
        "check": lambda: _check(folder),
        "compact": lambda: _compact(folder),
        "backup": lambda: _back_up(folder, other),
        "import": lambda: _import(folder, other, replaces=replace),
        "remove": lambda: _remove(folder, str(sandbox)),
        "export": lambda: _export(folder, file, sandbox or "default", is_tape=is_tape, shows_secrets=tape_secrets),
    }
    try:
        return actions[action]() or 0
    except StoreError as error:
        raise CannotStart(whole_line(f"reseller-sim data {action}: {error}")) from None


def _move(
    action: str, address: str, file: Path | None, sandbox: str, *, is_tape: bool, shows: bool, replaces: bool
) -> int:
    """Export from PostgreSQL, or import to it."""
    from simulator.persistence.errors import Damaged, StoreError

    try:
        from simulator.postgres.database_transfer import database_reader, export_from_database, import_to_database
    except ImportError:
        raise CannotStart(f"reseller-sim data {action}: psycopg is missing: {INSTALL}") from None
    try:
        if action == "import":
            assert file is not None, "it was asked for"
            _refuse_what_cannot_go_on(file)
            echo(whole_line(f"imported {import_to_database(address, file, replaces=replaces)}"))
            return 0
        open_reader = partial(database_reader, address)
        write = partial(export_from_database, address, sandbox, version=_version())
        _export_to(file, partial(_make_export, open_reader, write, sandbox, is_tape=is_tape, shows_secrets=shows))
    except Damaged as damaged:
        raise CannotStart(whole_line(f"reseller-sim data {action}: {file}: {damaged}")) from None
    except StoreError as error:
        raise CannotStart(whole_line(f"reseller-sim data {action}: {error}")) from None
    except OSError as error:
        raise CannotStart(whole_line(f"reseller-sim data {action}: {file}: {error.strerror}")) from None
    return 0


def _check(folder: Path) -> int:
    from simulator.persistence.maintenance import check
    from simulator.persistence.restoration import obstacles

    checked = check(folder, partial(obstacles, replayer=_replayer()))
    echo(whole_line(f"{folder}: {checked.summary}"))
    for problem in checked.problems:
        print_to_stderr(whole_line(problem))
    return 1 if checked.problems else 0


def _compact(folder: Path) -> None:
    from simulator.persistence.maintenance import compact
    from simulator.persistence.restoration import obstacles

    summary = compact(folder, version=_version(), more=partial(obstacles, replayer=_replayer()))
    echo(whole_line(f"{folder}: {summary}"))


def _back_up(folder: Path, target: Path) -> None:
    from simulator.persistence.maintenance import back_up

    size = back_up(folder, target)
    echo(whole_line(f"{target}: a copy of {folder}: {size} bytes"))


def _import(folder: Path, file: Path, *, replaces: bool) -> None:
    from simulator.persistence.errors import Damaged
    from simulator.persistence.store import Store
    from simulator.persistence.transfer import import_sandbox

    try:
        _refuse_what_cannot_go_on(file)
        with Store(folder, version=_version()) as store:
            echo(whole_line(f"{folder}: imported {import_sandbox(store, file, replaces=replaces)}"))
    except Damaged as damaged:
        raise CannotStart(whole_line(f"reseller-sim data import: {file}: {damaged}")) from None
    except OSError as error:
        raise CannotStart(whole_line(f"reseller-sim data import: {file}: {error.strerror}")) from None


def _refuse_what_cannot_go_on(file: Path) -> None:
    """Rebuild the sandbox of a file first, since a folder with a sandbox that cannot be rebuilt is not served."""
    from simulator.persistence.restoration import obstacles
    from simulator.persistence.transfer import exported_reader
    from simulator.runtime.sandboxes import is_sandbox_id

    with exported_reader(file) as reader:
        (sandbox,) = reader.sandboxes()
        if is_sandbox_id(sandbox.name):
            found = list(obstacles(reader, _replayer()))
        else:
            found = [f"{sandbox.name[:80]!r} is the id of no sandbox: export it again"]
    if found:
        raise CannotStart(whole_line(f"reseller-sim data import: {file}: {found[0]}"))


def _remove(folder: Path, sandbox: str) -> None:
    from simulator.persistence.database import refuse_no_store
    from simulator.persistence.store import Store

    refuse_no_store(folder)
    with Store(folder, version=_version()) as store:
        _refuse_unknown("remove", store.writer.lives, sandbox, folder)
        store.writer.forget(sandbox)
        store.commit()
    echo(whole_line(f"{folder}: removed {sandbox}"))


def _export(folder: Path, file: Path | None, sandbox: str, *, is_tape: bool, shows_secrets: bool) -> None:
    from simulator.persistence.reader import folder_reader
    from simulator.persistence.transfer import export_sandbox

    write = partial(export_sandbox, folder, sandbox, version=_version())
    make = partial(_make_export, partial(folder_reader, folder), write, sandbox, place=folder)
    _export_to(file, partial(make, is_tape=is_tape, shows_secrets=shows_secrets))


def _export_to(file: Path | None, make: Callable[[Path], None]) -> None:
    """Write what `make` writes to stdout, or into a new file, which gets its name when it is whole."""
    if file is None and sys.stdout.isatty():
        raise CannotStart("reseller-sim data export: an export is binary: name a FILE, or redirect stdout")
    if file is not None and file.exists():
        raise CannotStart(whole_line(f"reseller-sim data export: {file} exists already; name another file"))
    try:
        scratch = TemporaryDirectory(prefix=".reseller-sim-", dir=None if file is None else file.parent)
    except OSError as error:
        raise CannotStart(whole_line(f"reseller-sim data export: {file}: {error.strerror}")) from None
    with scratch as name:
        made = Path(name) / "sandbox"
        make(made)
        if file is not None:
            made.chmod(SECRET_MODE)
            made.rename(file)
        else:
            with made.open("rb") as content:
                shutil.copyfileobj(content, sys.stdout.buffer)


def _make_export(
    open_reader: "Callable[[], AbstractContextManager[Reader]]",
    write: Callable[[Path], None],
    sandbox: str,
    made: Path,
    *,
    place: object = "PostgreSQL",
    is_tape: bool,
    shows_secrets: bool,
) -> None:
    """Write a sandbox by `write`, or its tape."""
    with open_reader() as reader:
        _refuse_unknown("export", [one.name for one in reader.sandboxes()], sandbox, place)
        if not is_tape:
            write(made)
            return
        with made.open("wb") as target:
            target.writelines(_tape(reader, sandbox, shows_secrets=shows_secrets))


def _refuse_unknown(action: str, names: Collection[str], sandbox: str, place: object) -> None:
    if sandbox not in names:
        hint = f"it has {', '.join(names)}" if names else "it has no sandboxes"
        raise CannotStart(whole_line(f"reseller-sim data {action}: {place} has no sandbox {sandbox!r}; {hint}"))


def _tape(reader: "Reader", sandbox: str, *, shows_secrets: bool) -> Iterable[bytes]:
    from simulator.persistence.replay.tape_redaction import CannotMask, lines_without_secrets
    from simulator.persistence.replay.tape_writer import packed, tape_lines
    from simulator.persistence.restoration import NoTape, kept_tape

    try:
        found = kept_tape(reader, sandbox, _replayer())
    except NoTape as none:
        raise CannotStart(whole_line(f"reseller-sim data export: {none}")) from None
    if shows_secrets:
        return packed(tape_lines(found))
    try:
        return packed(lines_without_secrets(found, _replayer()))
    except CannotMask as error:
        hint = "--tape-secrets writes it with its secrets"
        raise CannotStart(whole_line(f"reseller-sim data export: the tape of {sandbox}: {error}; {hint}")) from None


def _replayer() -> "RequestReplayer":
    from simulator.api.pipeline import Pipeline
    from simulator.api.request_replayer import RequestReplayer
    from simulator.api.routes import routes

    return RequestReplayer(Pipeline(routes()))


def _version() -> str:
    from simulator import __version__

    return __version__
