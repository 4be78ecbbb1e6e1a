"""Clients for the audit: for each obligation one that sins, and one that comes as near as it may."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.support import webhooks
from tests.support.client import Client, running
from tests.support.receivers import Answer, Receiver
from tests.support.webhooks import DELIVERIES

Play = Callable[[Client], object]
PROCESSING = {"payments": [{"then": [{"status": "Accepted"}, {"after": "1s", "status": "Processing"}]}]}
SUCCEEDING = {"payments": [{"then": [{"status": "Accepted"}, {"after": "1s", "status": "Succesful"}]}]}
FAILED = {"payments": [{"then": [{"status": "Failed", "statusCode": 48}]}]}
NEW_SHAPE = {"X-API-Version": "2026-09-16"}
PLANS = "/v2/options?product_code=DATA&field_id=plan&account_number=0123456789"
BILLERS = "/v1/interbank/billers"
HISTORY = "/v2/transactions?limit=10&date=2026-11-21"
SHORT_HISTORY = "/v2/transactions?limit=1&date=2026-11-21"
STATEMENT = "/v2/balance-statement?limit=1&date=2026-11-21"
BILL = "/v2/bill-presentment?product=ELECTRIC&account="


@dataclass
class Played:
    """Two clients for an obligation, each with its own sandbox of the scenario: the first violates it, the second keeps
    it."""

    sins: Play
    keeps: Play
    scenario: Mapping[str, Any] = field(default_factory=dict)


def audit(client: Client, sandbox: str = "default") -> Any:
    """The answer of the control API."""
    answer = client.sim("GET", f"/sandboxes/{sandbox}/audit")
    assert answer.status == 200, answer.body
    return answer.json


def judged(client: Client, id_: str) -> Any:
    """One obligation of it."""
    return next(one for one in audit(client)["obligations"] if one["id"] == id_)


def violated(client: Client) -> dict[str, Any]:
    """Return the findings of the violated obligations by id."""
    return {one["id"]: one["findings"] for one in audit(client)["obligations"] if one["state"] == "violated"}


@contextmanager
def receiving(client: Client, *answers: Answer, method: str = "POST") -> Iterator[Receiver]:
    """A real receiver of the client's callbacks that gives these answers."""
    receiver = client.run(Receiver(answers=list(answers)).start())
    try:
        client.call("POST", f"/v2/callback-url?url={receiver.url}&method={method}")
        yield receiver
    finally:
        client.run(receiver.stop())


def answering(*answers: Answer, method: str = "POST", play: Play | None = None) -> Play:
    """One payment, whose callbacks such a receiver answers; then `play`."""

    def played(client: Client) -> None:
        with receiving(client, *answers, method=method):
            client.pay()
            client.advance(until="idle")
            if play is not None:
                play(client)

    return played


def probed(*names: str) -> Play:
    """These probes are sent to the receiver."""
    return lambda client: client.sim("POST", "/sandboxes/default/probes", {"probes": list(names)})


def in_order(*plays: Play) -> Play:
    """One after the other."""

    def played(client: Client) -> None:
        for play in plays:
            play(client)

    return played


def calling(method: str, target: str, body: Any = None, **more: Any) -> Play:
    """One request."""
    return lambda client: client.call(method, target, body, **more)


def paying(refid: str = "ref-1", amount: Any = "10", **more: Any) -> Play:
    """One payment."""
    return lambda client: client.pay(refid, amount, **more)


def passing(seconds: float) -> Play:
    """Time of the sandbox."""
    return lambda client: client.advance(seconds)


def again(times: int, play: Play, seconds: float = 0) -> Play:
    """Repeat a play with this many seconds in between."""
    return in_order(*(one for _ in range(times) for one in (play, passing(seconds))))


def at_wall(seconds: int, play: Callable[[int], Play]) -> Play:
    """Send a request whose timestamp differs from the wall clock by this many seconds."""
    return lambda client: play(int(client.wall().timestamp()) + seconds)(client)


def with_api_key_as(parameter: str) -> Play:
    """The API key in the query."""
    return lambda client: client.call("GET", f"/v2/balance?{parameter}={client.key}")


def with_token(name: str) -> Play:
    """A request with a bearer token of `POST /v2/token`."""

    def played(client: Client) -> None:
        login = b'{"username":"test_user_RS001","password":"test_password_RS001"}'
        token = client.send("POST", "/v2/token", "", login, {"content-type": "application/json"}).json[name]
        client.send("GET", "/v2/balance", "", b"", {"authorization": f"Bearer {token}"})

    return played


def logging_in(password: str) -> Play:
    """A request for tokens."""
    body = b'{"username":"test_user_RS001","password":"%s"}' % password.encode()
    return lambda client: client.send("POST", "/v2/token", "", body, {"content-type": "application/json"})


def reading_options(*pages: int, limit: int = 3) -> Play:
    """These pages of the plans."""
    return in_order(*(calling("GET", f"{PLANS}&limit={limit}&page={page}", headers=NEW_SHAPE) for page in pages))


def reading(target: str, name: str, *numbers: int) -> Play:
    """The parts of a list that begin so."""
    return in_order(*(calling("GET", f"{target}&{name}={number}") for number in numbers))


def paying_often(count: int) -> Play:
    """Pay this many orders, each once."""
    return in_order(*(paying(f"ref-{number}", account=f"012345678{number}") for number in range(count)))


def reading_deliveries(*, asks_again: bool = False, begins_anew: bool = False) -> Play:
    """Read the first page of the deliveries of three events, then the second. With `asks_again` request the second page
    twice, with `begins_anew` read the whole list at the end."""

    def played(client: Client) -> None:
        webhooks.put(client)
        for _ in range(3):
            webhooks.deposit(client)
        client.advance(until="idle")
        cursor = client.call("GET", f"{DELIVERIES}?limit=1").json["cursor"]
        for _ in range(2 if asks_again else 1):
            client.call("GET", f"{DELIVERIES}?limit=1&cursor={cursor}")
        if begins_anew:
            client.call("GET", f"{DELIVERIES}?limit=100")

    return played


def failing(path: str, nth: int, then: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a scenario that makes a single request fail."""
    return {"faults": [{"when": {"path": path}, "nth": nth, "then": then or {"status": 500}}]}


ELECTRIC = {"product": "ELECTRIC", "account": "123456789012"}
DEAR = ELECTRIC | {"amount": "9999"}
INVALID = "123450000015"
IC = {"biller_code": "1001", "ic_number": "900101145678"}
PELICAN = IC | {"biller_code": "1010"}
LOAN = {"product": "INTERBANK", "account": "12345678"}
IMPATIENT = {"limits": {"callback_timeout_manual": "300ms", "callback_retries": 1}}
LOST, STUCK, INELIGIBLE = "0130000004", "0130000003", "0130000002"
NOT_ELIGIBLE = in_order(paying(account=INELIGIBLE), passing(10), paying(account=INELIGIBLE))
NEW_PLANS = calling("GET", PLANS, headers=NEW_SHAPE)
NONCE = "the-same-nonce-again"
CATALOG = calling("GET", "/v2/catalog")
DOWN = {"faults": [{"when": {"path": "/v2/balance"}, "then": {"nonce_service": "down"}}]}
BALANCE = calling("GET", "/v2/balance")
FEW = {"limits": {"requests_per_interval": 10}}

PLAYED: Mapping[str, Played] = {
    "unique-nonces": Played(
        again(2, calling("GET", "/v2/balance", nonce=NONCE)),
        in_order(calling("GET", "/v2/balance", nonce=NONCE), passing(600), calling("GET", "/v2/balance", nonce=NONCE)),
    ),
    "well-formed-headers": Played(
        calling("GET", "/v2/balance", nonce="too-short"),
        calling("GET", "/v2/balance", nonce="sixteen-letters_"),
    ),
    "clock-in-step": Played(
        at_wall(-61, lambda stamp: calling("GET", "/v2/balance", timestamp=stamp)),
        in_order(passing(86400), at_wall(60, lambda stamp: calling("GET", "/v2/balance", timestamp=stamp))),
    ),
    "no-credentials-in-query": Played(
        with_api_key_as("api_key"), calling("GET", "/v2/networkstatus?product=RELOAD&tokens=1")
    ),
    "refused-key-not-retried": Played(
        again(2, calling("GET", "/v2/balance", key="nobody")),
        in_order(calling("GET", "/v2/balance", key="nobody"), calling("GET", "/v2/balance", key="somebody"), BALANCE),
    ),
    "refused-login-not-retried": Played(
        again(2, logging_in("wrong")),
        in_order(logging_in("wrong"), logging_in("wrong-too"), logging_in("test_password_RS001")),
    ),
    "refid-keeps-its-order": Played(
        in_order(paying(), paying(amount="20")),
        in_order(paying(amount="11"), paying(amount="10"), paying(amount=10.0), paying(remarks="asked again")),
    ),
    "new-refid-after-failure": Played(again(2, paying()), in_order(paying(), paying("ref-2")), FAILED),
    "refusal-not-repeated": Played(
        again(2, paying(amount="11")),
        in_order(paying(amount="11"), paying(amount="12"), again(2, paying("ref-2", **DEAR))),
    ),
    "no-double-payment": Played(
        in_order(paying(account=LOST), paying("ref-2", account=LOST)),
        in_order(
            paying(account=LOST),
            paying("ref-2", account=LOST),
            paying(account=LOST),
            paying("ref-2", account=LOST),
        ),
    ),
    "ineligible-not-retried": Played(
        in_order(
            paying(account=INELIGIBLE), passing(10), paying(account=INELIGIBLE), paying("ref-2", account=INELIGIBLE)
        ),
        in_order(
            NOT_ELIGIBLE,
            paying("ref-2", account="0131111111"),
            paying("ref-3", account=INELIGIBLE, product="DATA", extras={"subproduct_code": "D5"}),
        ),
    ),
    "cases-after-success": Played(
        in_order(paying(**ELECTRIC), calling("POST", "/v2/transactions/check", {"refid": "ref-1"})),
        in_order(
            paying(**ELECTRIC),
            passing(10),
            paying(**ELECTRIC),
            calling("POST", "/v2/transactions/check", {"refid": "ref-1"}),
        ),
    ),
    "final-status-learned": Played(
        answering(404),
        answering(404, play=paying()),
        SUCCEEDING,
    ),
    "polling-pace": Played(
        in_order(paying(), passing(1), paying(), passing(4), paying()),
        in_order(paying(), passing(1), paying(), passing(5), paying(), paying()),
        PROCESSING,
    ),
    "polling-to-the-end": Played(
        in_order(paying(account=STUCK), passing(300)),
        in_order(
            paying(account=LOST), passing(300), paying(account=LOST), paying("ref-2", account=STUCK), passing(299)
        ),
    ),
    "denomination-is-paid": Played(
        in_order(NEW_PLANS, paying(product="DATA", amount="5.20", extras={"subproduct_code": "D5"})),
        in_order(NEW_PLANS, paying(product="DATA", amount="5.00", extras={"subproduct_code": "D5"})),
    ),
    "plan-code-sent": Played(
        in_order(NEW_PLANS, paying(product="DATA", amount="10")),
        in_order(NEW_PLANS, paying(product="DATA", amount="5")),
    ),
    "plan-code-exact": Played(
        in_order(NEW_PLANS, paying(product="DATA", amount="5", extras={"subproduct_code": "d5"})),
        in_order(NEW_PLANS, paying(product="DATA", amount="5", extras={"subproduct_code": "D5"})),
    ),
    "coming-option-shape": Played(
        in_order(calling("GET", PLANS), paying(product="DATA", amount="5", extras={"subproduct_code": "D5"})),
        in_order(
            calling("GET", PLANS), NEW_PLANS, paying(product="DATA", amount="5", extras={"subproduct_code": "D5"})
        ),
    ),
    "invalid-account-not-paid": Played(
        in_order(calling("GET", BILL + INVALID), paying(product="ELECTRIC", account=INVALID)),
        in_order(
            calling("GET", BILL + INVALID),
            calling("GET", BILL + "123450000016"),
            paying(product="ELECTRIC", account="123450000016"),
        ),
    ),
    "amount-in-range": Played(
        in_order(CATALOG, paying(**ELECTRIC, amount="0.99")),
        in_order(CATALOG, paying(**ELECTRIC, amount="1.00"), paying("ref-2", **ELECTRIC, amount="10000")),
    ),
    "identity-without-dashes": Played(
        paying(**LOAN, extras=IC | {"ic_number": "900101-14-5678"}), paying(**LOAN, extras=IC)
    ),
    "billers-without-product-code": Played(
        calling("GET", BILLERS + "?product_code=INTERBANK"), calling("GET", BILLERS + "?biller_code=1001")
    ),
    "page-with-limit": Played(calling("GET", BILLERS + "?page=1"), calling("GET", BILLERS + "?page=1&limit=2")),
    "all-pages-read": Played(reading_options(1), reading_options(1, 2, 3)),
    "history-pages-read": Played(
        in_order(paying_often(3), reading(SHORT_HISTORY, "offset", 0, 1, 2)),
        in_order(paying_often(3), reading(SHORT_HISTORY, "offset", 0, 1, 1, 2)),
        failing("/v2/transactions", 2),
    ),
    "statement-pages-read": Played(
        in_order(paying_often(3), reading(STATEMENT, "page", 1, 2, 3)),
        in_order(paying_often(3), reading(STATEMENT, "page", 1, 2, 3, 2)),
        failing("/v2/balance-statement", 2),
    ),
    "biller-pages-read": Played(
        reading(f"{BILLERS}?limit=2", "page", 1, 2),
        in_order(reading(f"{BILLERS}?limit=2", "page", 1, 2), calling("GET", BILLERS)),
        failing(BILLERS, 2),
    ),
    "delivery-pages-read": Played(reading_deliveries(), reading_deliveries(asks_again=True), failing(DELIVERIES, 2)),
    "catalog-cached": Played(again(31, CATALOG, seconds=9), in_order(again(29, CATALOG, seconds=9), again(5, CATALOG))),
    "receiver-in-time": Played(answering(None), answering(500, 200), IMPATIENT),
    "receiver-without-redirect": Played(answering(302), answering(404)),
    "receiver-accepts": Played(answering(404), answering(503, 204)),
    "forgeries-refused": Played(
        answering(200, play=probed("callback-unknown-refid")),
        answering(200, 200, 404, play=probed("callback-unknown-refid")),
    ),
    "repetitions-accepted": Played(
        answering(200, 200, 409, play=probed("callback-duplicate")), answering(200, play=probed("callback-duplicate"))
    ),
    "id-token-only": Played(with_token("AccessToken"), with_token("IdToken")),
    "no-deprecated-endpoints": Played(calling("GET", "/v2/product-list"), CATALOG),
    "signed-not-bearer": Played(with_token("IdToken"), BALANCE),
    "below-rate-limit": Played(again(9, BALANCE), in_order(again(8, BALANCE), passing(300), again(8, BALANCE)), FEW),
    "back-off-on-503": Played(
        again(4, BALANCE, seconds=1),
        in_order(*(one for seconds in (1, 2, 4, 8) for one in (BALANCE, passing(seconds)))),
        DOWN,
    ),
}


@contextmanager
def played(id_: str, *, sins: bool) -> Iterator[Client]:
    """The application after one of the two has played."""
    one = PLAYED[id_]
    with running(dict(one.scenario)) as client:
        (one.sins if sins else one.keeps)(client)
        yield client
