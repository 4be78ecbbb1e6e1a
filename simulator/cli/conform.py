"""`reseller-sim conform`: the contract suite against any deployment of the service."""

import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simulator.cli.call import credentials
from simulator.cli.control import DEFAULT_URL
from simulator.cli.flags import file_option, option
from simulator.cli.output import echo
from simulator.cli.reports.cases import UNWRITABLE
from simulator.cli.usage import CannotStart, verb, wrong_usage
from simulator.cli.values import Number, Span, Whole
from simulator.options import CONTROL_PATH
from simulator.shortened import shortened, whole_line
from simulator.staging.signing import CannotSign, parse_address, secret_bytes

if TYPE_CHECKING:
    from simulator.staging.conform.context import Run
    from simulator.staging.conform.payments import Order
    from simulator.staging.service import Session
    from simulator.staging.signing import Credentials


TITLE = "reseller-sim conform"
URL_VARIABLES = ["RESELLER_SIM_BASE_URL", "RESELLER_SIM_URL"]
WAIT_S_MAX = 3600


def _parsed(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Return orders of `--pay`, bills of `--bill`, or the amount of `--spend-at-most`."""
    from simulator.domain.model.money import parse_number
    from simulator.staging.conform.payments import BILL, PAYMENT, BadOrder, Order

    try:
        if param.name != "spend_at_most":
            return tuple(Order.parse(text, PAYMENT if param.name == "pay" else BILL) for text in value)
        amount = None if value is None else parse_number(value)
        if value is not None and (amount is None or amount <= 0):
            raise BadOrder(f"{value!r} is not an amount of money above 0")
        return amount
    except BadOrder as wrong:
        raise click.BadParameter(str(wrong), ctx, param) from None


def _only(ctx: click.Context, param: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of checks and questions."""
    from simulator.staging.conform.run import known_names

    known = known_names()
    for name in names:
        if name not in known:
            raise click.BadParameter(f"there is no check or question {name!r}; --list prints all", ctx, param)
    return names


@verb("conform")
@option("--base-url", metavar="URL", envvar=URL_VARIABLES, help=f"The service's address.  [default: {DEFAULT_URL}]")
@option("--key", metavar="KEY", help="The API key.  [default: the default scenario's]")
@option("--secret", metavar="SECRET", help="The secret of the key, in Base64.  [default: the default scenario's]")
@option("--username", metavar="NAME", help="A user of the account, to look at the legacy tokens.")
@option("--password", metavar="PASSWORD", help="The user's password.")
@option(
    "--bill",
    metavar="PRODUCT:ACCOUNT",
    multiple=True,
    callback=_parsed,
    help="An account whose bill may be looked up; :biller_code=CODE and the like may follow.",
)
@option("--allow-payments", is_flag=True, help="Make the payments that --pay names, dispute and void some of them.")
@option(
    "--pay",
    metavar="PRODUCT:ACCOUNT:AMOUNT",
    multiple=True,
    callback=_parsed,
    help="A payment; :subproduct_code=CODE and other extras may follow.",
)
@option("--spend-at-most", metavar="MYR", callback=_parsed, help="The most that all payments may cost.")
@option(
    "--allow-configuration",
    is_flag=True,
    help="Change callback URL and balance webhook for a moment, and restore them.",
)
@option(
    "--rate",
    type=Number(0, 1000, min_open=True),
    default=5,
    help="Requests per second.",
)
@option(
    "--max-requests",
    type=Whole(1, 100_000),
    default=1000,
    help="Requests in total.",
)
@option(
    "--timeout",
    type=Span(most_s=600),
    default="35s",
    help="How long an answer may take; the service itself gives up after 29 seconds.",
)
@option(
    "--wait",
    type=Span(0, WAIT_S_MAX),
    default="90s",
    help="How long payments may take to become final, and voids to be refunded.",
)
@option("--only", metavar="NAME", multiple=True, callback=_only, help="Only this check or question.")
@click.option(
    "--list", "is_list", is_flag=True, allow_from_autoenv=False, help="Print the checks and questions; send nothing."
)
@file_option("--junit", "junit_file", help="Write the results to this file as JUnit XML.")
@file_option("--json-report", "json_file", help="Write the results to this file as JSON.")
@file_option("--html", "html", help="Write the results to this file as one HTML page.")
def conform_command(
    base_url: str | None,
    key: str | None,
    secret: str | None,
    username: str | None,
    password: str | None,
    bill: "tuple[Order, ...]",
    allow_payments: bool,
    pay: "tuple[Order, ...]",
    spend_at_most: Decimal | None,
    allow_configuration: bool,
    rate: float,
    max_requests: int,
    timeout: float,
    wait: float,
    only: tuple[str, ...],
    is_list: bool,
    junit_file: Path | None,
    json_file: Path | None,
    html: Path | None,
) -> int:
    """Check a deployment of the service against its contract.

    It only reads, unless payments or changes of the configuration are allowed. It prints a line for each check: ok;
    DIFFERS with the expected and the actual value; or - with the reason why the check was not exercised. Then it
    prints the choices of the service where the specification is silent, as a block for a scenario. Redirects are not
    followed. Exit code 1 means that a check departs, 3 that the service did not answer, or refused the key.

    \b
    Examples:
      reseller-sim conform
      reseller-sim conform --list
      reseller-sim conform --base-url https://staging.example.com --key KEY --secret SECRET --junit conform.xml
      reseller-sim conform --allow-payments --pay RELOAD:0123456789:10 --spend-at-most 30
    """
    from simulator.cli.reports.conform import ending, line_of, names, refuse_unwritable, write_files
    from simulator.staging.conform.context import Run
    from simulator.staging.conform.run import report
    from simulator.staging.service import HttpService, Session, SessionClock

    if is_list:
        echo(names())
        return 0
    if (username is None) != (password is None):
        raise wrong_usage("give both --username and --password, or neither")
    if allow_payments and (not pay or spend_at_most is None):
        raise wrong_usage("--allow-payments needs at least one --pay, and --spend-at-most")
    if not allow_payments and (pay or spend_at_most is not None):
        raise wrong_usage("--pay and --spend-at-most need --allow-payments")
    files = (junit_file, json_file, html)
    refuse_unwritable(TITLE, *files)
    address, held = _target(base_url, key, secret)
    login = None if username is None or password is None else (username, password)
    with closing(HttpService(address, timeout)) as service:
        session = Session(service, held, SessionClock(), rate, max_requests)
        run = Run(session, may_configure=allow_configuration, login=login, bills=bill)
        with _putting_back_when_stopped(session):
            _reach(run, address)
            if spend_at_most is not None:
                _allow_payments(run, pay, spend_at_most, wait)
            made = report(run, address, only, lambda result: echo(line_of(result)))
    echo("\n".join(ending(made)))
    if not write_files(TITLE, made, *files):
        return UNWRITABLE
    return 1 if made.departed else 0


@contextmanager
def _putting_back_when_stopped(session: "Session") -> Iterator[None]:
    """SIGINT and SIGTERM end the run as an exception, so that what it has changed is put back."""
    before = {number: signal.signal(number, session.stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _target(base_url: str | None, key: str | None, secret: str | None) -> "tuple[str, Credentials]":
    """Return the service's address and the credentials. Unusable values are a usage error."""
    address = (base_url or DEFAULT_URL).rstrip("/").removesuffix(CONTROL_PATH)
    held = credentials(key, secret)
    try:
        parse_address(address)
        secret_bytes(held.secret)
    except CannotSign as wrong:
        raise wrong_usage(str(wrong)) from None
    return address, held


def _reach(run: "Run", address: str) -> None:
    """Send a request to check the address and the key, so that a wrong address or key is not reported as departures."""
    from simulator.staging.service import NoAnswer

    try:
        answer = run.session.get("/v2/balance")
    except NoAnswer as why:
        raise CannotStart(whole_line(f"{TITLE}: {address} does not answer: {why}")) from None
    if code := answer.auth_code:
        what = f"{TITLE}: {address} refused the first signed request with {answer.status} {shortened(code, 60)}"
        raise CannotStart(whole_line(run.hidden(f"{what}: look at --key, --secret and the clock of this machine")))


def _allow_payments(run: "Run", orders: "tuple[Order, ...]", limit: Decimal, wait_s: float) -> None:
    from simulator.staging.conform.findings import Departs
    from simulator.staging.conform.payments import BadOrder, PaymentRunner
    from simulator.staging.conform.run import UNEXPECTED
    from simulator.staging.service import NoAnswer

    try:
        run.paying = PaymentRunner(run.session, orders, limit, run.products, wait_s)
        run.paying.check_plan()
    except BadOrder as wrong:
        raise wrong_usage(str(wrong)) from None
    except (Departs, NoAnswer, *UNEXPECTED) as error:
        why = str(error) if isinstance(error, Departs) else repr(error)
        raise CannotStart(whole_line(f"{TITLE}: the catalog cannot be read: {why}")) from None
