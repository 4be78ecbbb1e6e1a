"""`reseller-sim import`: a real account's catalog and configuration as a scenario."""

from pathlib import Path

import click

from simulator.cli.flags import option
from simulator.cli.output import print_to_stderr
from simulator.cli.usage import CannotStart, verb, wrong_usage
from simulator.cli.values import Number, Span, Whole
from simulator.shortened import whole_line

PROGRAM = "reseller-sim import"


def _account_numbers(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> dict[str, list[str]]:
    """`PRODUCT=NUMBER` each: the numbers of each product, in their order."""
    found: dict[str, list[str]] = {}
    for text in texts:
        product, _, number = text.partition("=")
        if not product or not number:
            raise click.BadParameter(
                f"{text!r} is not a product and an account number such as DATA=0123456789", ctx, param
            )
        numbers = found.setdefault(product, [])
        if number not in numbers:
            numbers.append(number)
    return found


@verb("import")
@option("--base-url", metavar="URL", required=True, help="The service's address, such as https://staging.example.com.")
@option("--key", metavar="KEY", required=True, help="The API key of the account.")
@option(
    "--secret", metavar="SECRET", required=True, help="The secret of the key, in Base64; better given as a variable."
)
@option(
    "--account",
    metavar="PRODUCT=NUMBER",
    multiple=True,
    callback=_account_numbers,
    help="Import the options of this product for this account number; may be repeated.",
)
@option("--keep-urls", is_flag=True, help="Send callbacks and webhooks to the account's own addresses.")
@option(
    "--per-second",
    type=Number(0.1, 1000),
    default=2.0,
    help="The most requests per second.",
)
@option(
    "--requests",
    type=Whole(min=1),
    default=5000,
    help="The most requests of this run.",
)
@option("--timeout", type=Span(), default="60s", help="The timeout of each response.")
@option(
    "--state",
    metavar="FILE",
    default="reseller-sim-import.state",
    help="The file with the state of an interrupted run, from which the next run continues.",
)
def import_command(
    base_url: str,
    key: str,
    secret: str,
    account: dict[str, list[str]],
    keep_urls: bool,
    per_second: float,
    requests: int,
    timeout: float,
    state: str,
) -> int:
    """Print a scenario with the catalog of a real account.

    Only GET is used, at a slow pace. Comments of the scenario list what it cannot express. Neither the key nor the
    secret is written; the scenario has a test key of its own. After an interruption, run the command again to
    continue. Exit code 1 means that the service refused, 3 that it did not answer, or that --requests
    were not enough.

    \b
    Examples:
      reseller-sim import --base-url https://staging.example.com > mine.yaml
      reseller-sim import --base-url https://staging.example.com --account DATA=0123456789 > mine.yaml
    """
    from simulator.staging.conform.findings import NotExercised
    from simulator.staging.importer.account_answers import AccountRefused, ForeignStateFile, LongPause
    from simulator.staging.importer.importing import ImportRequest, import_account, masking
    from simulator.staging.service import NoAnswer, SessionClock
    from simulator.staging.signing import CannotSign, Credentials

    credentials = Credentials(key, secret)
    mask = masking(credentials)
    wanted = ImportRequest(base_url, credentials, Path(state), account, keep_urls, per_second, requests, timeout)
    try:
        text = import_account(wanted, SessionClock(), lambda said: print_to_stderr(f"{PROGRAM}: {mask(said)}"))
    except CannotSign as wrong:
        raise wrong_usage(mask(str(wrong))) from None
    except AccountRefused as refused:
        print_to_stderr(whole_line(mask(f"{PROGRAM}: the service refused: {refused}")))
        return 1
    except ForeignStateFile as wrong:
        raise CannotStart(whole_line(f"{PROGRAM}: {wrong}")) from None
    except (NoAnswer, NotExercised, LongPause) as error:
        known = f"what is known is in {state}, so " if Path(state).exists() else ""
        hint = f"{known}run the same command again"
        raise CannotStart(whole_line(mask(f"{PROGRAM}: {error}; {hint}"))) from None
    click.echo(text.encode(), nl=False)
    return 0
