"""`reseller-sim conform`: the contract suite against any deployment of the service."""

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.cli.flags import CannotStart, option, verb
from simulator.cli.output import echo, one_line, printable
from simulator.cli.request import DEFAULT_URL, credentials
from simulator.cli.signing import CannotSign, secret_bytes, split_base
from simulator.options import CONTROL_PATH

if TYPE_CHECKING:
    from simulator.conform.context import Bill, Run
    from simulator.conform.findings import Report
    from simulator.conform.purse import Order
    from simulator.conform.session import Session

URL_VARIABLES = ["RESELLER_SIM_BASE_URL", "RESELLER_SIM_URL"]
WAIT_S_MAX = 3600


def _orders(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> "tuple[Order, ...]":
    from simulator.conform.purse import BadOrder, Order

    try:
        return tuple(map(Order.parse, texts))
    except BadOrder as wrong:
        raise click.BadParameter(str(wrong), ctx, param) from None


def _bills(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> "tuple[Bill, ...]":
    from simulator.conform.context import Bill

    bills = []
    for text in texts:
        product, account, *more = [*text.split(":"), ""][: max(2, text.count(":") + 1)]
        pairs = [one.partition("=") for one in more]
        if not product or not account or not all(sign for _, sign, _ in pairs):
            raise click.BadParameter(f"{text!r} is not PRODUCT:ACCOUNT, with :NAME=VALUE for more", ctx, param)
        bills.append(Bill(product, account, {name: value for name, _, value in pairs}))
    return tuple(bills)


def _money(ctx: click.Context, param: click.Parameter, text: str | None) -> Decimal | None:
    if text is None:
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal(-1)
    if not (value.is_finite() and value > 0):
        raise click.BadParameter(f"{text!r} is not an amount of money above 0", ctx, param)
    return value


def _only(ctx: click.Context, param: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    from simulator.conform.run import known_names

    for name in names:
        if name not in known_names():
            raise click.BadParameter(f"there is no check or question {name!r}; the report has their names", ctx, param)
    return names


@verb("conform")
@option("--base-url", metavar="URL", envvar=URL_VARIABLES, help=f"The service's address.  [default: {DEFAULT_URL}]")
@option("--key", metavar="KEY", help="The API key.  [default: the default scenario's]")
@option("--secret", metavar="SECRET", help="Its secret, in Base64.  [default: the default scenario's]")
@option("--username", metavar="NAME", help="A user of the account, to look at the legacy tokens.")
@option("--password", metavar="PASSWORD", help="The user's password.")
@option(
    "--bill",
    metavar="PRODUCT:ACCOUNT",
    multiple=True,
    callback=_bills,
    help="An account whose bill may be looked up; :biller_code=CODE and the like may follow.",
)
@option("--allow-payments", is_flag=True, help="Make the payments that --pay names, dispute and void some of them.")
@option(
    "--pay",
    metavar="PRODUCT:ACCOUNT:AMOUNT",
    multiple=True,
    callback=_orders,
    help="A payment; :subproduct_code=CODE and other extras may follow.",
)
@option("--spend-at-most", metavar="MYR", callback=_money, help="The most that all payments together may cost.")
@option(
    "--allow-configuration",
    is_flag=True,
    help="Change callback URL and balance webhook for a moment, and put them back.",
)
@option(
    "--rate",
    metavar="N",
    type=click.FloatRange(0, 1000, min_open=True),
    default=5,
    show_default=True,
    help="Requests per second.",
)
@option(
    "--max-requests",
    metavar="N",
    type=click.IntRange(1, 100_000),
    default=1000,
    show_default=True,
    help="Requests in total.",
)
@option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(0, 600, min_open=True),
    default=35,
    show_default=True,
    help="How long an answer may take; the service itself gives up after 29 seconds.",
)
@option(
    "--wait",
    metavar="SECONDS",
    type=click.FloatRange(0, WAIT_S_MAX),
    default=60,
    show_default=True,
    help="How long payments may take to become final.",
)
@option("--only", metavar="NAME", multiple=True, callback=_only, help="Only this check or question; repeatable.")
@option("--junit", metavar="FILE", type=click.Path(path_type=Path), help="Write the results as JUnit XML.")
@option("--json", metavar="FILE", type=click.Path(path_type=Path), help="Write the results as JSON.")
@option("--html", metavar="FILE", type=click.Path(path_type=Path), help="Write the results as one HTML page.")
def command(
    base_url: str | None,
    key: str | None,
    secret: str | None,
    username: str | None,
    password: str | None,
    bill: "tuple[Bill, ...]",
    allow_payments: bool,
    pay: "tuple[Order, ...]",
    spend_at_most: Decimal | None,
    allow_configuration: bool,
    rate: float,
    max_requests: int,
    timeout: float,
    wait: float,
    only: tuple[str, ...],
    junit: Path | None,
    json: Path | None,
    html: Path | None,
) -> int:
    """Check a deployment of the service against its contract.

    Only reads, unless payments or changes of the configuration are allowed. Prints a line for each check: ok, DEPARTS
    with what was expected and what came, or - with the reason why it was not exercised; then, as a block for a
    scenario, what the service does where the specification is silent. Redirects are not followed. Exit code 1 means
    that something departs, 3 that the service did not answer.

    \b
    Examples:
      reseller-sim conform
      reseller-sim conform --base-url https://staging.example.com --key KEY --secret SECRET --junit conform.xml
      reseller-sim conform --allow-payments --pay RELOAD:0123456789:10 --spend-at-most 30
    """
    from simulator.conform.context import Permissions, Run
    from simulator.conform.reports.text import ending, line_of
    from simulator.conform.run import report

    if (username is None) != (password is None):
        raise _usage("give both --username and --password, or neither")
    address, session = _session(base_url, key, secret, rate, max_requests, timeout)
    login = None if username is None or password is None else (username, password)
    run = Run(session, None, Permissions(allow_configuration, login, bill))
    _reach(run, address)
    if allow_payments:
        _open_till(run, pay, spend_at_most, wait)
    elif pay or spend_at_most is not None:
        raise _usage("--pay and --spend-at-most need --allow-payments")
    made = report(run, address, only, lambda result: echo(printable(line_of(result))))
    echo(printable(ending(made)))
    _write_files(made, junit, json, html)
    return 1 if made.departed else 0


def _session(
    base_url: str | None, key: str | None, secret: str | None, rate: float, max_requests: int, timeout_s: float
) -> "tuple[str, Session]":
    from simulator.conform.service import HttpService
    from simulator.conform.session import Credentials, Session, WallClock

    address = (base_url or DEFAULT_URL).rstrip("/").removesuffix(CONTROL_PATH)
    held = credentials(key, secret)
    try:
        split_base(address)
        secret_bytes(held.secret)
    except CannotSign as wrong:
        raise _usage(str(wrong)) from None
    service = HttpService(address, timeout_s)
    return address, Session(service, Credentials(held.key, held.secret), WallClock(), rate, max_requests)


def _reach(run: "Run", address: str) -> None:
    """Ask once, so that an address where nobody answers is no list of departures."""
    from simulator.conform.service import NoAnswer

    try:
        run.session.get("/v2/balance")
    except NoAnswer as why:
        raise CannotStart(one_line(f"reseller-sim conform: {address} does not answer: {why}")) from None


def _open_till(run: "Run", orders: "tuple[Order, ...]", limit: Decimal | None, wait_s: float) -> None:
    from simulator.conform.findings import Departs
    from simulator.conform.purse import BadOrder, Purse
    from simulator.conform.till import Till

    if not orders or limit is None:
        raise _usage("--allow-payments needs at least one --pay, and --spend-at-most")
    try:
        purse = Purse(limit, run.products)
        purse.check_plan(orders)
    except BadOrder as wrong:
        raise _usage(str(wrong)) from None
    except Departs as departs:
        raise CannotStart(one_line(f"reseller-sim conform: the catalog cannot be read: {departs.departure}")) from None
    run.open_till(Till(run.session, orders, purse, wait_s))


def _usage(text: str) -> click.UsageError:
    return click.UsageError(text, click.get_current_context())


def _write_files(made: "Report", junit: Path | None, json: Path | None, html: Path | None) -> None:
    from simulator.conform.reports.files import as_html, as_json, as_junit

    for path, write in ((junit, as_junit), (json, as_json), (html, as_html)):
        if path is None:
            continue
        try:
            path.write_text(write(made), "utf-8")
        except OSError as error:
            raise CannotStart(f"reseller-sim conform: {str(path)!r} cannot be written: {error.strerror}") from None
