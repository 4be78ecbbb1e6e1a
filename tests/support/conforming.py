"""`conform` against an application in this process, whose clock it moves when it waits."""

from collections.abc import Callable, Collection
from decimal import Decimal
from email.utils import formatdate
from typing import Any

from simulator.staging.conform.context import Run
from simulator.staging.conform.findings import ConformReport
from simulator.staging.conform.payment_runner import Order, PaymentRunner
from simulator.staging.conform.run import report
from simulator.staging.service import Answer, Request, Session, SessionClock
from simulator.staging.signed_requests import Credentials
from tests.support.client import Client
from tests.support.tokens import PASSWORD, USER

RELOAD, DATA, BILL, FAILING, LOAN, GAME = (
    Order.parse(text)
    for text in (
        "RELOAD:0123456789:10",
        "DATA:0123456789:30:subproduct_code=D30",
        "ELECTRIC:210012345678:12.50",
        "RELOAD:0120000001:5",
        "STUDENTLOAN:1029384756:50:subproduct_code=K:ic_number=900101145678",
        "GAME:12345678:100",
    )
)
Sender = Callable[[Request], Answer]
Damage = Callable[[Sender, Request], Answer]
"""A proxy between `conform` and the simulator, which may drop requests and change answers."""


class InProcess:
    """The service of a client. `damage` may change its behaviour."""

    def __init__(self, client: Client, damage: Damage | None = None) -> None:
        self._client = client
        self._damage = damage
        self.sent: list[Request] = []

    def send(self, request: Request) -> Answer:
        self.sent.append(request)
        return self._damage(self._passed_on, request) if self._damage else self._passed_on(request)

    def _passed_on(self, request: Request) -> Answer:
        path, _, query = request.target.partition("?")
        response = self._client.send(request.method, path, query, request.body, dict(request.headers))
        date = formatdate(self._client.wall().timestamp(), usegmt=True)  # as the server sends it
        return Answer(request, response.status, {**response.headers, "date": date}, response.body)


class SandboxClock(SessionClock):
    """The wall of the test, and the sandbox's clock with it."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def now(self) -> float:
        return self._client.wall().timestamp()

    def wait(self, seconds: float) -> None:
        if seconds > 0.01:  # what pacing wants at a million requests per second is no time
            self._client.pass_time(seconds)
            self._client.advance(seconds)


def run_of(
    client: Client,
    *orders: Order,
    damage: Damage | None = None,
    limit: str = "1000",
    configuration: bool = True,
    requests_max: int = 2000,
    wait_s: float = 90,
) -> Run:
    """A run with everything that is allowed; it pays only with orders."""
    service = InProcess(client, damage)
    session = Session(service, Credentials(client.key, client.secret), SandboxClock(client), 1e6, requests_max)
    bills = (Order("ELECTRIC", "210012345678"),)
    run = Run(session, may_configure=configuration, login=(USER, PASSWORD), bills=bills)
    if orders:
        run.paying = PaymentRunner(session, orders, Decimal(limit), run.products, wait_s)
    return run


def conformed(client: Client, *orders: Order, only: Collection[str] = (), **more: Any) -> ConformReport:
    """The report of such a run."""
    return report(run_of(client, *orders, **more), "http://127.0.0.1:8080", only)
