"""`reseller-sim conform` and `import`: a real deployment, compared with the contract, and its catalog."""

import signal
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import click

from simulator.cli import values
from simulator.cli.call import credentials
from simulator.cli.control import DEFAULT_URL
from simulator.cli.flags import file_option, option
from simulator.cli.output import echo
from simulator.cli.process import signals_handled
from simulator.cli.reports.conform_report import ending, line_of, names, refuse_unwritable, write_files
from simulator.cli.reports.report_cases import UNWRITABLE
from simulator.cli.usage import BadResult, CannotStart, notify, verb, wrong_usage
from simulator.cli.values import Integer, Number, Span
from simulator.options import CONTROL_PATH
from simulator.short_text import shortened
from simulator.staging.conform.context import Run
from simulator.staging.conform.findings import Departs, NotExercised
from simulator.staging.conform.payment_runner import BILL, PAYMENT, BadOrder, Order, PaymentRunner
from simulator.staging.conform.run import known_names, report
from simulator.staging.importer.account_answers import AccountRefused, ForeignStateFile, LongPause
from simulator.staging.importer.account_import import ImportRequest, import_account, masking
from simulator.staging.service import HttpService, NoAnswer, Session, SessionClock
from simulator.staging.signed_requests import CannotSign, Credentials, parse_address, secret_bytes

URL_VARIABLES = ["RESELLER_SIM_BASE_URL", "RESELLER_SIM_URL"]


def _only(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of checks and questions."""
    known = known_names()
    for name in names:
        if name not in known:
            raise ValueError(f"there is no check or question {name!r}; --list prints all")
    return names


@verb(
    "conform",
    "--base-url https://staging.example.com --key KEY --secret SECRET --junit conform.xml",
    "--allow-payments --pay RELOAD:0123456789:10 --spend-at-most 30",
)
@option("--base-url", metavar="URL", envvar=URL_VARIABLES, help=f"The service's address.  [default: {DEFAULT_URL}]")
@option("--key", metavar="KEY", help="The API key.  [default: the default scenario's]")
@option("--secret", metavar="SECRET", help="The secret of the key, in Base64.  [default: the default scenario's]")
@option("--username", metavar="NAME", help="A user of the account, to look at the legacy tokens.")
@option("--password", metavar="PASSWORD", help="The user's password.")
@option(
    "--bill",
    metavar="PRODUCT:ACCOUNT",
    multiple=True,
    parse=lambda texts: tuple(Order.parse(text, BILL) for text in texts),
    help="An account whose bill may be looked up; :biller_code=CODE and the like may follow.",
)
@option("--allow-payments", is_flag=True, help="Make the payments that --pay names, dispute and void some of them.")
@option(
    "--pay",
    metavar="PRODUCT:ACCOUNT:AMOUNT",
    multiple=True,
    parse=lambda texts: tuple(Order.parse(text, PAYMENT) for text in texts),
    help="A payment; :subproduct_code=CODE and other extras may follow.",
)
@option(
    "--spend-at-most",
    metavar="MYR",
    parse=lambda text: Decimal(values.amount(text)),
    help="The most that all payments may cost.",
)
@option(
    "--allow-configuration",
    is_flag=True,
    help="Change callback URL and balance webhook for a moment, and restore them.",
)
@option("--rate", type=Number(0, 1000, min_open=True), default=5, help="Requests per second.")
@option("--max-requests", type=Integer(1, 100_000), default=1000, help="Requests in total.")
@option(
    "--timeout",
    type=Span(most_s=600),
    default="35s",
    help="How long an answer may take; the service itself gives up after 29 seconds.",
)
@option(
    "--wait",
    type=Span(0, 3600),
    default="90s",
    help="How long payments may take to become final, and voids to be refunded.",
)
@option("--only", metavar="NAME", multiple=True, parse=_only, help="Only this check or question.")
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
    bill: tuple[Order, ...],
    allow_payments: bool,
    pay: tuple[Order, ...],
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
    """It only reads, unless payments or changes of the configuration are allowed. It prints a line for each check: ok;
    DIFFERS with the expected and the actual value; or - with the reason why the check was not exercised. Then it
    prints the choices of the service where the specification is silent, as a block for a scenario. Redirects are not
    followed. Exit code 1 means that a check departs, 3 that the service did not answer, or refused the key.
    """
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
    refuse_unwritable(*files)
    address, held = _target(base_url, key, secret)
    login = None if username is None or password is None else (username, password)
    with closing(HttpService(address, timeout)) as service:
        session = Session(service, held, SessionClock(), rate, max_requests)
        run = Run(session, may_configure=allow_configuration, login=login, bills=bill)
        # SIGINT and SIGTERM end the run as an exception, so that its changes are undone.
        with signals_handled(session.stop, (signal.SIGINT, signal.SIGTERM)):
            _reach(run, address)
            if spend_at_most is not None:
                _allow_payments(run, pay, spend_at_most, wait)
            made = report(run, address, only, lambda result: echo(line_of(result)))
    echo("\n".join(ending(made)))
    if not write_files(made, *files):
        return UNWRITABLE
    return 1 if made.departed else 0


def _target(base_url: str | None, key: str | None, secret: str | None) -> tuple[str, Credentials]:
    """Return the service's address and the credentials. Unusable values are a usage error."""
    address = (base_url or DEFAULT_URL).rstrip("/").removesuffix(CONTROL_PATH)
    held = credentials(key, secret)
    try:
        parse_address(address)
        secret_bytes(held.secret)
    except CannotSign as wrong:
        raise wrong_usage(wrong) from None
    return address, held


def _reach(run: Run, address: str) -> None:
    """Send a request to check the address and the key, so that a wrong address or key is not reported as departures."""
    try:
        answer = run.session.get("/v2/balance")
    except NoAnswer as why:
        raise CannotStart(f"{address} does not answer: {why}") from None
    if code := answer.auth_code:
        what = f"{address} refused the first signed request with {answer.status} {shortened(code, 60)}"
        raise CannotStart(run.hidden(f"{what}: look at --key, --secret and the clock of this machine"))


def _allow_payments(run: Run, orders: tuple[Order, ...], limit: Decimal, wait_s: float) -> None:
    try:
        run.paying = PaymentRunner(run.session, orders, limit, run.products, wait_s)
        run.paying.check_plan()
    except BadOrder as wrong:
        raise wrong_usage(wrong) from None
    except (Departs, NoAnswer) as error:
        raise CannotStart(run.hidden(f"the catalog cannot be read: {error}")) from None


def _account_numbers(texts: tuple[str, ...]) -> dict[str, list[str]]:
    """`PRODUCT=NUMBER` each: the numbers of each product, in their order."""
    found: dict[str, list[str]] = {}
    for text in texts:
        product, _, number = text.partition("=")
        if not product or not number:
            raise ValueError(f"{text!r} is not a product and an account number such as DATA=0123456789")
        numbers = found.setdefault(product, [])
        if number not in numbers:
            numbers.append(number)
    return found


@verb(
    "import",
    "--base-url https://staging.example.com > mine.yaml",
    "--base-url https://staging.example.com --account DATA=0123456789 > mine.yaml",
)
@option("--base-url", metavar="URL", required=True, help="The service's address, such as https://staging.example.com.")
@option("--key", metavar="KEY", required=True, help="The API key of the account.")
@option(
    "--secret", metavar="SECRET", required=True, help="The secret of the key, in Base64; better given as a variable."
)
@option(
    "--account",
    metavar="PRODUCT=NUMBER",
    multiple=True,
    parse=_account_numbers,
    help="Import the options of this product for this account number; may be repeated.",
)
@option("--keep-urls", is_flag=True, help="Send callbacks and webhooks to the account's own addresses.")
@option("--per-second", type=Number(0.1, 1000), default=2.0, help="The most requests per second.")
@option("--requests", type=Integer(min=1), default=5000, help="The most requests of this run.")
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
) -> None:
    """Only GET is used, at a slow pace. Comments of the scenario list what it cannot express. Neither the key nor the
    secret is written; the scenario has a test key of its own. After an interruption, run the command again to
    continue. Exit code 1 means that the service refused, 3 that it did not answer, or that --requests
    were not enough.
    """
    credentials = Credentials(key, secret)
    mask = masking(credentials)
    wanted = ImportRequest(base_url, credentials, Path(state), account, keep_urls, per_second, requests, timeout)
    try:
        text = import_account(wanted, SessionClock(), lambda said: notify(mask(said)))
    except CannotSign as wrong:
        raise wrong_usage(mask(str(wrong))) from None
    except AccountRefused as refused:
        raise BadResult(mask(f"the service refused: {refused}")) from None
    except ForeignStateFile as wrong:
        raise CannotStart(wrong) from None
    except (NoAnswer, NotExercised, LongPause) as error:
        known = f"the state is saved in {state}: " if Path(state).exists() else ""
        hint = f"{known}run the same command again"
        raise CannotStart(mask(f"{error}; {hint}")) from None
    click.echo(text.encode(), nl=False)
