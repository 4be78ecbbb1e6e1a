"""`reseller-sim data`: the flags of the maintenance of data folders."""

from pathlib import Path
from typing import Final

import click

from simulator.cli.flags import own_option
from simulator.cli.usage import verb, wrong_usage
from simulator.cli.values import is_database

ACTIONS: Final = ("check", "export", "import", "remove", "compact", "backup")


@verb("data", "check data", "export data shop.sandbox --sandbox shop")
@click.argument("action", metavar="|".join(ACTIONS), type=click.Choice(ACTIONS))
@click.argument("place", metavar="DIR|URL", type=click.Path())
@click.argument("file", metavar="[FILE]", type=click.Path(path_type=Path), required=False)
@own_option("--sandbox", metavar="ID", help="The sandbox that is exported or removed.  [default: default]")
@own_option("--tape", "is_tape", is_flag=True, help="Export its tape, for `replay`.")
@own_option("--tape-secrets", "shows_secrets", is_flag=True, help="Keep the secrets on the tape.")
@own_option("--replace", "replaces", is_flag=True, help="Replace an existing sandbox of this name.")
def data_command(action: str, place: str, file: Path | None, sandbox: str | None, **flags: bool) -> int:
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
        ("--tape", flags["is_tape"] or flags["shows_secrets"], ("export",)),
        ("--replace", flags["replaces"], ("import",)),
        ("--sandbox", sandbox is not None, ("export", "remove")),
    ):
        if given and action not in actions:
            raise wrong_usage(f"{flag} belongs to {' and '.join(f'data {each}' for each in actions)}")
    if sandbox is None and action == "remove":
        raise wrong_usage("data remove needs --sandbox ID")
    if is_database(place) and action not in ("export", "import"):
        raise wrong_usage(f"data {action} takes a folder; PostgreSQL has tools of its own")
    from simulator.cli.data_actions import act

    return act(action, place, file, sandbox or "default", **flags)
