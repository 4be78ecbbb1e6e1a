"""Ignored or misread parts of a request are reported in `X-Sim-Diagnosis` and in the journal."""

from collections.abc import Iterator

import pytest

from tests.support.client import Client, running
from tests.support.diagnoses import diagnosis

OPTIONS = "/v2/options?product_code=RELOAD&field_id=amount"
PLANS = "/v2/options?product_code=DATA&field_id=plan&account_number=0123456789"
BILLERS = "/v1/interbank/billers"
HISTORY = "/v2/transactions?date=2026-11-21&limit=10"
STATEMENT = "/v2/balance-statement?date=2026-11-21"
BILL = "/v2/bill-presentment?product=ELECTRIC&account=210012345678"
DELIVERIES = "/v2/balance-webhook/deliveries"
CATALOG_HAS = "known: product_code, is_active, include_inactive"

NOTED: list[tuple[str, int, str]] = [
    ("/v2/catalog?is_actve=false", 200, "unknown parameter is_actve; did you mean is_active?"),
    ("/v2/catalog?IS_ACTIVE=false", 200, "unknown parameter IS_ACTIVE; did you mean is_active?"),
    ("/v2/catalog?+is_active=false", 200, "unknown parameter ' is_active'; did you mean is_active?"),
    ("/v2/catalog?colour=red", 200, f"unknown parameter colour; {CATALOG_HAS}"),
    ("/v2/catalog?productCode=DATA", 200, "unknown parameter productCode; did you mean product_code?"),
    ("/v2/catalog?product_code[]=DATA", 200, "unknown parameter product_code[]; send product_code itself"),
    (f"/v2/catalog?{'x' * 199}=1", 200, f"unknown parameter {'x' * 100}...; {CATALOG_HAS}"),
    ("/v2/catalog?=1", 200, f"unknown parameter without a name; {CATALOG_HAS}"),
    ("/v2/catalog?product_code=RELOADX", 200, "no product RELOADX; did you mean RELOAD?"),
    ("/v2/catalog?product_code=retired", 200, "no product retired; did you mean RETIRED?"),
    ("/v2/catalog?product_code=RETIRED", 200, "RETIRED is inactive; include_inactive=true shows it"),
    ("/v2/catalog?product_code=GAME&is_active=false", 200, "GAME is active; include_inactive=true shows it"),
    (
        "/v2/catalog?is_active=false&include_inactive=true",
        200,
        "is_active was ignored, since include_inactive=true shows both",
    ),
    ("/v2/catalog?is_active=yes", 400, "is_active must be true or false"),
    ("/v2/catalog?is_active=true&is_active=true", 400, "is_active was sent 2 times"),
    (f"{OPTIONS}&limit=25001", 200, "a limit of 25001 was reduced to 25000, the maximum of a page"),
    (f"{OPTIONS}&per_page=99999", 200, "a per_page of 99999 was reduced to 25000, the maximum of a page"),
    (f"{OPTIONS}&limit=2&per_page=3", 200, "per_page was ignored: it is another name of limit, which was sent too"),
    (f"{OPTIONS}&account_number=1", 200, "account_number was ignored: amount offers the same to every account"),
    (f"{OPTIONS}&biller_code=1001", 200, "biller_code was ignored: amount lists no billers"),
    (f"{PLANS}&is_active=false", 200, "is_active was ignored: plan is dynamic and offers active options only"),
    (
        "/v2/options?product=RELOAD&field_id=amount",
        400,
        "unknown parameter product; did you mean product_code?; product_code is required",
    ),
    ("/v2/options?product_code=RELOADX&field_id=amount", 404, "no product RELOADX; did you mean RELOAD?"),
    (
        "/v2/options?product_code=RELOAD&field_id=amonut",
        404,
        "RELOAD has no select field amonut; its select fields are amount; did you mean amount?",
    ),
    ("/v2/options?product_code=WATER&field_id=amount", 404, "WATER has no select field amount; it has no such field"),
    ("/v2/options?product_code=RETIRED&field_id=amount", 404, "RETIRED is inactive; include_inactive=true shows it"),
    (
        "/v2/options?product_code=DATA&field_id=plan",
        400,
        "account_number is required: the options of 'plan' depend on the value of 'phone'",
    ),
    ("/v2/options?product_code=INTERBANK&field_id=biller&biller_code=9", 200, "no biller 9"),
    ("/v2/options?product_code=INTERBANK&field_id=biller&biller_code=1045", 200, "biller 1045 is inactive"),
    (
        "/v2/options?product_code=INTERBANK&field_id=biller&biller_code=1001&is_active=false",
        200,
        "biller 1001 is active, and is_active=false was asked for",
    ),
    ("/v2/options?product_code=%20&field_id=amount", 400, "product_code must be text of 1 to 100 characters"),
    ("/v2/options?product_code=RELOAD&field_id=%09", 400, "field_id must be text of 1 to 100 characters"),
    (f"{OPTIONS}&limit=1000000000", 200, "a limit of 1000000000 was reduced to 25000, the maximum of a page"),
    (f"{BILLERS}?page=2", 400, "page must be used with limit"),
    (f"{BILLERS}?page=2&limit=", 400, "page must be used with limit"),
    (
        f"{BILLERS}?product_code=INTERBANK",
        200,
        "unknown parameter product_code; known: page, limit, biller_code, suggested_category",
    ),
    (f"{BILLERS}?biller_code=1045", 200, "biller 1045 is inactive"),
    (f"{BILLERS}?biller_code=1001&suggested_category=Internet", 200, "biller 1001 has the category"),
    (f"{BILLERS}?biller_code=1001X", 200, "no biller 1001X; did you mean 1001?"),
    (f"{BILLERS}?suggested_category=internet", 200, "unknown category internet; did you mean Internet?"),
    (f"{BILLERS}?suggested_category=xyz", 200, "unknown category xyz; known: "),
    (
        f"{DELIVERIES}?cursor=x",
        400,
        "cursor is not a cursor of this list; send it exactly as the previous",
    ),
    (f"{HISTORY}&status[]=FAILED", 200, "unknown parameter status[]; send status itself, once for each value"),
    (f"{HISTORY}&status%5B%5D=FAILED", 200, "unknown parameter status[]; send status itself, once for each value"),
    ("/v2/transactions?date=2026-11-21&limit=1001", 200, "a limit of 1001 was reduced to 1000, the maximum of a page"),
    (
        f"{HISTORY}&status=FAILED&status=FOO",
        400,
        "status must be one or several of SUCCESSFUL, PENDING",
    ),
    (f"{HISTORY}&product=RELAOD", 400, "no product RELAOD; did you mean RELOAD?"),
    (f"{HISTORY}&page=2", 200, "unknown parameter page; known: limit, date, status, account, offset, product"),
    (f"{STATEMENT}&limit=1001", 200, "a limit of 1001 was reduced to 1000, the maximum of a page"),
    (f"{STATEMENT}&offset=3", 200, "unknown parameter offset; known: date, type, page, limit"),
    (f"{DELIVERIES}?status=x", 400, "status must be one of all, success, failed"),
    (f"{DELIVERIES}?form=2026-11-21", 200, "unknown parameter form; did you mean from?"),
    ("/v2/balance?currency=MYR", 200, "a query was sent, but this endpoint reads none"),
    ("/v2/product-list?product_code=RELOAD", 200, "a query was sent, but this endpoint reads none"),
    (
        "/v2/subproducts?product_code=INTERBANK&account_number=1",
        200,
        "account_number was ignored: INTERBANK",
    ),
    (
        "/v2/subproducts?product_code=RELOAD&account_number=1",
        200,
        "account_number was ignored: RELOAD has no sub-products",
    ),
    ("/v2/networkstatus?product=RELAOD", 400, "no product RELAOD; did you mean RELOAD?"),
    ("/v2/networkstatus?product=%20", 400, "product must be a string of 1 to 100 characters"),
    ("/v2/subproducts?product_code=+", 400, "product_code must be a string of 1 to 100 characters"),
    ("/v2/subproducts?product_code=RELOADX", 400, "no product RELOADX; did you mean RELOAD?"),
    ("/v2/subproducts?product_code=RETIRED", 400, "RETIRED is inactive"),
    (f"{BILL}&biller_code=1&ref2=2", 200, "ELECTRIC has no billers: biller_code, ref2 ignored"),
    (f"{BILL}&acount=1", 200, "unknown parameter acount; known: account, product, biller_code, ref2, amount"),
    ("/v2/bill-presentment?product=ELECTRIC&acount=1", 400, "unknown parameter acount; did you mean account?"),
    (
        "/v2/transactions?limit=1&date=2026-11-21&status=FAILED&status[]=REFUND",
        200,
        "unknown parameter status[]; known: limit, date, status",
    ),
    ("/v2/networkstatus?product=RELOAD&account=1", 200, "unknown parameter account; known: product"),
]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with running() as client:
        yield client


@pytest.mark.parametrize(("target", "status", "text"), NOTED, ids=[target for target, _, _ in NOTED])
def test_ignored_and_reinterpreted_parameters_are_noted(client: Client, target: str, status: int, text: str) -> None:
    answer = client.call("GET", target)
    assert answer.status == status
    assert diagnosis(client, answer).startswith(text)


GOOD = [
    "/v2/catalog?product_code=DATA&is_active=true",
    "/v2/catalog?product_code=&is_active=&include_inactive=",
    f"{OPTIONS}&limit=25000&page=1&is_active=true&include_hidden=true",
    PLANS,
    "/v2/options?product_code=INTERBANK&field_id=biller&biller_code=1001",
    f"{BILLERS}?limit=5&page=1&suggested_category=Internet",
    f"{HISTORY}&status=FAILED&status=PENDING&product=RELOAD&account=1&offset=0",
    f"{STATEMENT}&type=REFUND&page=1&limit=1000",
    DELIVERIES,
    "/v2/balance",
    f"{BILL}&amount=10&ref2=",
    "/v2/subproducts?product_code=DATA&account_number=0123456789&limit=",
]


@pytest.mark.parametrize("target", GOOD)
def test_a_valid_request_has_no_diagnosis(client: Client, target: str) -> None:
    answer = client.call("GET", target, headers={"X-API-Version": "2026-09-16"})
    assert answer.status == 200
    assert "x-sim-diagnosis" not in answer.headers


@pytest.mark.parametrize(
    ("version", "text"),
    [
        ("newest", "X-API-Version 'newest' is not a date of the form yyyy-MM-dd and was ignored"),
        ("2026-9-16", "X-API-Version '2026-9-16' is not a date of the form yyyy-MM-dd and was ignored"),
        ("2026-02-30", "X-API-Version '2026-02-30' is not a date of the form yyyy-MM-dd and was ignored"),
        ("", "X-API-Version '' is not a date of the form yyyy-MM-dd and was ignored"),
    ],
)
def test_an_invalid_version_is_noted_at_every_endpoint(client: Client, version: str, text: str) -> None:
    headers = {"X-API-Version": version}
    for target in ("/v2/catalog", OPTIONS, "/v2/balance", BILLERS):
        assert diagnosis(client, client.call("GET", target, headers=headers)) == text
    assert diagnosis(client, client.pay(f"version-{version}", headers=headers)) == text


def test_an_unread_body_is_noted(client: Client) -> None:
    for target in ("/v2/catalog", "/v2/options?product_code=RELOAD&field_id=amount"):
        expected = diagnosis(client, client.call("GET", target, b'{"is_active": false}'))
        assert expected == "a body was sent, but the parameters belong in the query"
    expected = diagnosis(client, client.call("GET", "/v2/balance", b"{}"))
    assert expected == "a body was sent, but this endpoint reads none"


def test_a_query_beside_a_body_is_noted(client: Client) -> None:
    body = {"refid": "query", "product": "RELOAD", "account": "0123456789", "amount": "10"}
    answer = client.call("POST", "/v2/topup?amount=20", body)
    assert (answer.status, answer.data["amount"]) == (200, 10)
    assert diagnosis(client, answer) == "a query was sent, but the members belong in the body"


def test_a_query_that_sets_something_is_noted_alike(client: Client) -> None:
    answer = client.call("POST", "/v2/callback-url?url=inbox:callbacks&method=POST&mehtod=GET")
    assert (answer.status, diagnosis(client, answer)) == (200, "unknown parameter mehtod; known: url, method")
    answer = client.call("POST", "/v2/low-balance-threshold", {"amount": "10"})
    expected = "a body was sent, but the parameters belong in the query; amount is required"
    assert (answer.status, diagnosis(client, answer)) == (400, expected)


def test_several_notes_are_joined_and_few(client: Client) -> None:
    expected = diagnosis(client, client.call("GET", "/v2/catalog?" + "&".join(f"zz{n}=1" for n in range(30))))
    assert expected.count("unknown parameter") == 5
    assert expected.endswith("and 25 more that are unknown")
    both = diagnosis(client, client.call("GET", "/v2/catalog?is_actve=1", headers={"X-API-Version": "x"}))
    assert [part[:13] for part in both.split("; ")] == ["X-API-Version", "unknown param", "did you mean "]


def test_a_rule_with_a_non_ascii_name_can_be_selected_by_the_header_of_an_answer() -> None:
    rules = [
        {"name": "zurück", "when": {"account": "0123456789"}, "then": [{"status": "Failed"}]},
        {"name": "100%25", "when": {"account": "none"}, "then": [{"status": "Processing"}]},
    ]
    with running({"payments": rules}) as client:
        printed = client.pay("a").headers["x-sim-rule"]
        again = client.pay("b", account="0199999999", headers={"X-Sim-Rule": printed})
        assert (again.data["status"], again.headers["x-sim-rule"]) == ("Failed", printed)
        literal = client.pay("c", account="0199999999", headers={"X-Sim-Rule": "100%25"})
        assert (literal.data["status"], literal.headers["x-sim-rule"]) == ("Processing", "100%2525")
        assert client.pay("d", account="0199999999", headers={"X-Sim-Rule": "100%2525"}).data["status"] == "Processing"


SAID_ONCE = [
    (f"{HISTORY}&product=RELAOD", "no product RELAOD; did you mean RELOAD?"),
    ("/v2/networkstatus?product=RELAOD", "no product RELAOD; did you mean RELOAD?"),
    ("/v2/subproducts?product_code=RELAOD", "no product RELAOD; did you mean RELOAD?"),
    ("/v2/transactions?limit=x", "date is required; limit must be a whole number from 1 on, of at most 18 digits"),
]


@pytest.mark.parametrize(("target", "text"), SAID_ONCE)
def test_a_refusal_says_a_thing_once(client: Client, target: str, text: str) -> None:
    assert diagnosis(client, client.call("GET", target)) == text


def test_a_hidden_product_is_reported_as_hidden_and_never_suggested() -> None:
    hidden = {"code": "VOUCHER", "is_hidden": True}
    with running({"catalog": {"products": [hidden]}}) as client:
        assert diagnosis(client, client.call("GET", "/v2/subproducts?product_code=VOUCHER")) == "VOUCHER is hidden"
        assert diagnosis(client, client.call("GET", "/v2/catalog?product_code=VOUCHER")) == "VOUCHER is hidden"
        options = client.call("GET", "/v2/options?product_code=VOUCHER&field_id=amount")
        assert diagnosis(client, options) == "VOUCHER is hidden; include_hidden=true shows it"
        for target in ("/v2/subproducts?product_code=VOUCHERS", "/v2/options?product_code=VOUCHERS&field_id=a"):
            assert diagnosis(client, client.call("GET", target)) == "no product VOUCHERS"


def test_a_product_that_is_hidden_and_inactive_is_shown_by_what_the_diagnosis_advises() -> None:
    options = "/v2/options?product_code=RETIRED&field_id=amount"
    hidden, inactive = "&include_hidden=true", "&include_inactive=true"
    with running({"catalog": {"products": [{"code": "RETIRED", "is_hidden": True}]}}) as client:
        both = "RETIRED is hidden and inactive; include_hidden=true and include_inactive=true show it"
        assert diagnosis(client, client.call("GET", options)) == both
        said = "RETIRED is hidden; include_hidden=true shows it"
        assert diagnosis(client, client.call("GET", options + inactive)) == said
        said = "RETIRED is inactive; include_inactive=true shows it"
        assert diagnosis(client, client.call("GET", options + hidden)) == said
        assert client.call("GET", options + hidden + inactive).status == 200
        assert diagnosis(client, client.call("GET", "/v2/catalog?product_code=RETIRED")) == "RETIRED is hidden"


def test_a_catalog_without_a_biller_product_is_noted() -> None:
    with running({"catalog": {"products": [{"code": "INTERBANK", "is_active": False}]}}) as client:
        for query in ("?biller_code=1001", "", "", "?limit=5"):
            answer = client.call("GET", BILLERS + query)
            assert diagnosis(client, answer) == "no product that is paid to billers is on sale"


@pytest.mark.parametrize("query", [f"limit={'9' * 18}", f"limit={'9' * 18}&page={'9' * 18}"])
@pytest.mark.parametrize("path", [BILLERS, "/v2/options", "/v2/subproducts"])
def test_a_whole_number_of_18_digits_is_read(client: Client, path: str, query: str) -> None:
    of = "product_code=INTERBANK&field_id=biller" if path == "/v2/options" else "product_code=INTERBANK"
    assert client.call("GET", f"{path}?{query}" + (f"&{of}" if path != BILLERS else "")).status == 200


def test_a_product_that_history_does_not_know_is_noted_where_it_is_no_mistake() -> None:
    with running({"assume": {"history-unknown-product": "empty"}}) as client:
        answer = client.call("GET", f"{HISTORY}&product=RELAOD")
        assert (answer.status, diagnosis(client, answer)) == (200, "no product RELAOD; did you mean RELOAD?")
        assert "x-sim-diagnosis" not in client.call("GET", f"{HISTORY}&product=RETIRED").headers
