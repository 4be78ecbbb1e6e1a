"""`reseller-sim data`: maintenance of data folders, and moving sandboxes between them and PostgreSQL."""

import shutil
import sys
from collections.abc import Collection, Iterable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Final

import click

from simulator import __version__
from simulator.api.request_replayer import RequestReplayer
from simulator.cli.flags import own_option
from simulator.cli.output import echo, print_to_stderr
from simulator.cli.reports.run_tapes import SECRET_MODE
from simulator.cli.usage import CannotStart, verb, wrong_usage
from simulator.cli.values import is_database
from simulator.persistence.database import refuse_no_store
from simulator.persistence.errors import DamagedStore, StoreError
from simulator.persistence.maintenance import back_up, check, compact, export_sandbox, exported_reader, import_sandbox
from simulator.persistence.reader import Reader, folder_reader
from simulator.persistence.replay.tape_redaction import CannotMask, lines_without_secrets
from simulator.persistence.replay.tape_writer import packed, tape_lines
from simulator.persistence.restoration import kept_tape, obstacles
from simulator.persistence.store import Store
from simulator.runtime.sandboxes import is_sandbox_id
from simulator.short_text import whole_line

ACTIONS: Final = ("check", "export", "import", "remove", "compact", "backup")


@verb("data", "check data", "export data shop.sandbox --sandbox shop")
@click.argument("action", metavar="|".join(ACTIONS), type=click.Choice(ACTIONS))
@click.argument("place", metavar="DIR|URL", type=click.Path())
@click.argument("file", metavar="[FILE]", type=click.Path(path_type=Path), required=False)
@own_option("--sandbox", metavar="ID", help="The sandbox that is exported or removed.  [default: default]")
@own_option("--tape", "is_tape", is_flag=True, help="Export its tape, for `replay`.")
@own_option("--tape-secrets", "shows_secrets", is_flag=True, help="Keep the secrets on the tape.")
@own_option("--replace", "replaces", is_flag=True, help="Replace an existing sandbox of this name.")
def data_command(
    action: str, place: str, file: Path | None, sandbox: str | None, is_tape: bool, shows_secrets: bool, replaces: bool
) -> int:
    """DIR is a folder of `serve --data-dir`. `check`, `export` and `backup` may run while a server has it open.
    `export` and `import` also take the address of a PostgreSQL database of `serve --store`, whose servers may run.

    `check` prints damage, with exit code 1. `export` writes a sandbox into FILE or to stdout, for `import`, or with
    --tape for `replay`. `import` adds the sandbox of FILE. `remove` deletes a sandbox. `compact` returns free space to
    the system. `backup` copies the folder into FILE, an empty or a new folder.
    """
    if (action in ("check", "compact", "remove") and file) or (action in ("import", "backup") and file is None):
        wanted = "no FILE" if file else "a FILE to read from" if action == "import" else "a folder to copy into"
        raise wrong_usage(f"data {action} takes DIR and {wanted}")
    for flag, given, actions in (
        ("--tape", is_tape or shows_secrets, ("export",)),
        ("--replace", replaces, ("import",)),
        ("--sandbox", sandbox is not None, ("export", "remove")),
    ):
        if given and action not in actions:
            raise wrong_usage(f"{flag} belongs to {' and '.join(f'data {each}' for each in actions)}")
    if sandbox is None and action == "remove":
        raise wrong_usage("data remove needs --sandbox ID")
    if is_database(place) and action not in ("export", "import"):
        raise wrong_usage(f"data {action} takes a folder; PostgreSQL has tools of its own")
    folder, other, sandbox = Path(place), file or Path(), sandbox or "default"
    try:
        match action:
            case "check":
                checked = check(folder, partial(obstacles, replayer=RequestReplayer()))
                echo(whole_line(f"{folder}: {checked.summary}"))
                for problem in checked.problems:
                    print_to_stderr(whole_line(problem))
                return 1 if checked.problems else 0
            case "compact":
                summary = compact(folder, version=__version__, more=partial(obstacles, replayer=RequestReplayer()))
                echo(whole_line(f"{folder}: {summary}"))
            case "backup":
                echo(whole_line(f"{other}: a copy of {folder}: {back_up(folder, other)} bytes"))
            case "import":
                _import(place, other, replaces=replaces)
            case "remove":
                _remove(folder, sandbox)
            case _:
                _export(place, file, sandbox, is_tape=is_tape or shows_secrets, shows_secrets=shows_secrets)
    except StoreError as error:
        raise CannotStart(error) from None
    return 0


def _transfer_module() -> ModuleType:
    """Return the module that moves sandboxes from and to PostgreSQL."""
    try:
        from simulator.postgres import database_transfer
    except ImportError:
        raise CannotStart("psycopg is missing: pip install 'reseller-sim[postgres]'") from None
    return database_transfer


def _import(place: str, file: Path, *, replaces: bool) -> None:
    try:
        transfer = _transfer_module() if is_database(place) else None
        _refuse_unrestorable(file)
        if transfer is not None:
            echo(whole_line(f"imported {transfer.import_to_database(place, file, replaces=replaces)}"))
            return
        with Store(Path(place), version=__version__) as store:
            echo(whole_line(f"{place}: imported {import_sandbox(store, file, replaces=replaces)}"))
    except DamagedStore as damaged:
        raise CannotStart(f"{file}: {damaged}") from None
    except OSError as error:
        raise CannotStart(f"{file}: {error.strerror}") from None


def _refuse_unrestorable(file: Path) -> None:
    """Rebuild the sandbox of a file first, since a folder with a sandbox that cannot be rebuilt is not served."""
    with exported_reader(file) as reader:
        (life,) = reader.lives()
        if is_sandbox_id(life.sandbox):
            found = list(obstacles(reader, RequestReplayer()))
        else:
            found = [f"{life.sandbox[:80]!r} is not the id of a sandbox: export the sandbox again"]
    if found:
        raise CannotStart(f"{file}: {found[0]}")


def _remove(folder: Path, sandbox: str) -> None:
    refuse_no_store(folder)
    with Store(folder, version=__version__) as store:
        _refuse_unknown(store.writer.lives, sandbox, folder)
        store.writer.forget(sandbox)
        store.commit()
    echo(whole_line(f"{folder}: removed {sandbox}"))


def _export(place: str, file: Path | None, sandbox: str, *, is_tape: bool, shows_secrets: bool) -> None:
    """Write a sandbox, or its tape, to stdout, or into a new file, which gets its name when it is whole."""
    if file is None and sys.stdout.isatty():
        raise CannotStart("an export is binary: name a FILE, or redirect stdout")
    if file is not None and file.exists():
        raise CannotStart(f"{file} exists already; name another file")
    try:
        scratch = TemporaryDirectory(prefix=".reseller-sim-", dir=None if file is None else file.parent)
    except OSError as error:
        raise CannotStart(f"{file}: {error.strerror}") from None
    with scratch as name:
        scratch_file = Path(name) / "sandbox"
        _write_export(place, sandbox, scratch_file, is_tape=is_tape, shows_secrets=shows_secrets)
        if file is not None:
            scratch_file.chmod(SECRET_MODE)
            scratch_file.rename(file)
        else:
            with scratch_file.open("rb") as content:
                shutil.copyfileobj(content, sys.stdout.buffer)


def _write_export(place: str, sandbox: str, scratch_file: Path, *, is_tape: bool, shows_secrets: bool) -> None:
    opened = _transfer_module().database_reader(place) if is_database(place) else folder_reader(Path(place))
    with opened as reader:
        where = "PostgreSQL" if is_database(place) else place
        _refuse_unknown([life.sandbox for life in reader.lives()], sandbox, where)
        if not is_tape:
            export_sandbox(reader, sandbox, scratch_file, version=__version__)
            return
        with scratch_file.open("wb") as target:
            target.writelines(_tape(reader, sandbox, shows_secrets=shows_secrets))


def _refuse_unknown(names: Collection[str], sandbox: str, place: object) -> None:
    if sandbox not in names:
        hint = f"it has {', '.join(names)}" if names else "it has no sandboxes"
        raise CannotStart(f"{place} has no sandbox {sandbox!r}; {hint}")


def _tape(reader: Reader, sandbox: str, *, shows_secrets: bool) -> Iterable[bytes]:
    found = kept_tape(reader, sandbox, RequestReplayer())
    if shows_secrets:
        return packed(tape_lines(found))
    try:
        return packed(lines_without_secrets(found, RequestReplayer()))
    except CannotMask as error:
        hint = "--tape-secrets writes it with its secrets"
        raise CannotStart(f"the tape of {sandbox}: {error}; {hint}") from None
