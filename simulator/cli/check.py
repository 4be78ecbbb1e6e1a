"""`reseller-sim check`: what is wrong with scenario files."""

from pathlib import Path

import click

from simulator.cli.flags import verb


@verb("check")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
def command(files: tuple[Path, ...]) -> int:
    """Tell what is wrong with scenario files.

    Each problem is one line, `file:line:column: code message`, as editors and CI annotations read it. A file that can
    be used is `ok`. Exit code 1 means that there are problems.

    \b
    Examples:
      reseller-sim check mine.yaml
      reseller-sim check scenarios/*.yaml
    """
    from simulator.scenario.library import problems

    is_good = True
    for file in files:
        found = problems(file)
        for problem in found:
            click.echo(problem)
        if not found:
            click.echo(f"{file}: ok")
        is_good = is_good and not found
    return 0 if is_good else 1
