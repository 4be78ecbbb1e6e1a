"""How things are spelled (SPEC 1, 2.3, 2.8, 6.1)."""

import json
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from simulator.domain.model import draw
from simulator.domain.model.callbacks import Callback, CallbackConfig
from simulator.domain.model.transactions import (
    Distortion,
    PaymentKind,
    PaymentResult,
    ResultKind,
    ResultTexts,
    Status,
    Transaction,
)
from simulator.wire import account, outbound, payment_answers
from simulator.wire.formats import day_first, encode, iso_utc, iso_utc_exact, number, year_first, year_first_ms

AT = datetime(2026, 12, 31, 16, 5, 9, 7_999, tzinfo=UTC)
EARLIER = datetime(2025, 1, 1, tzinfo=UTC)


def test_every_timestamp_format() -> None:
    assert day_first(AT) == "01-01-2027 00:05:09"
    assert year_first(AT) == "2027-01-01 00:05:09"
    assert year_first_ms(AT) == "2027-01-01 00:05:09.007"
    assert iso_utc(AT) == "2026-12-31T16:05:09.007Z"
    assert iso_utc_exact(AT) == "2026-12-31T16:05:09.007999Z"
    assert datetime.fromisoformat(iso_utc_exact(AT)) == AT
    odd = timezone(timedelta(microseconds=5))
    assert iso_utc_exact(datetime(999, 1, 2, tzinfo=odd)) == "0999-01-01T23:59:59.999995Z"
    assert iso_utc_exact(datetime(999, 1, 2, 0, 0, 0, 5, tzinfo=odd)) == "0999-01-02T00:00:00.000000Z"


class Interrupted(datetime):
    """A time during whose formatting another thread formats another time."""

    def astimezone(self, tz: Any = None) -> Any:
        assert year_first(AT) == "2027-01-01 00:05:09"
        draw.trxid(1, AT, "R1", "ref")
        return datetime.astimezone(datetime.combine(self.date(), self.timetz()), tz)


def test_two_threads_that_format_different_times_do_not_mix_them() -> None:
    at = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
    interrupted = Interrupted(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
    year_first(EARLIER)
    assert year_first(interrupted) == "2026-03-04 13:06:07"
    assert [year_first(one) for one in (AT, at, AT)] == [
        "2027-01-01 00:05:09", "2026-03-04 13:06:07", "2027-01-01 00:05:09",
    ]  # fmt: skip
    draw.trxid(1, EARLIER, "R1", "ref")
    assert draw.trxid(1, interrupted, "R1", "ref").startswith("260304")
    assert [draw.trxid(1, one, "R1", "ref")[:6] for one in (AT, at, AT)] == ["270101", "260304", "270101"]


@pytest.mark.parametrize(
    ("value", "text"),
    [("10", "10"), ("10.00", "10"), ("9.70", "9.7"), ("-0.00", "0"), ("1E3", "1000"), ("0.05", "0.05")],
)
def test_numbers_are_integers_when_whole(value: str, text: str) -> None:
    assert encode(number(Decimal(value))).decode() == text


def callback(status: Status, method: str = "POST", url: str = "https://shop.example/cb") -> Callback:
    transaction = Transaction(
        "T1",
        "ref/1?",
        PaymentKind("R1", "BILL", "Bill", "", Distortion(), None, "MYR"),
        "0123",
        Decimal("10.50"),
        Decimal("9.70"),
        "",
        {},
        "",
        AT,
        Decimal("10.50"),
    )
    result = PaymentResult(
        AT,
        ResultKind(status, 53, Decimal("9.70"), "step"),
        Decimal("90.30"),
        ResultTexts("note", "SN", "", date(2027, 1, 2)),
    )
    return Callback(id="cb-1", transaction=transaction, result=result, url=url, method=method)


@pytest.mark.parametrize(
    ("status", "word"),
    [
        (Status.PROCESSING, "Processing"),
        (Status.SUCCESSFUL, "Succesful"),
        (Status.FAILED, "Failed"),
        (Status.REFUNDED, "Failed"),
    ],
)
def test_callbacks_know_three_words_and_a_void_is_a_failure(status: Status, word: str) -> None:
    body = outbound.callback(callback(status), "3.1.120.89").body
    assert body is not None
    assert json.loads(body)["data"]["status"] == word


def test_a_post_callback_has_all_fields_of_a_payment_result() -> None:
    job = callback(Status.SUCCESSFUL)
    assert payment_answers.callback(job.transaction, job.result)["data"] == {
        "statusCode": 53, "status": "Succesful", "account": "0123", "product": "BILL", "productName": "Bill",
        "amount": Decimal("10.5"), "sn": "SN", "pin": "", "expiry": "20270102", "cost": Decimal("9.7"),
        "balance": Decimal("90.3"), "remarks": "note", "refid": "ref/1?", "timestamp": "2027-01-01 00:05:09",
        "note": "", "voucherlink": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    "url", ["https://shop.example/cb", "https://shop.example/cb?", "https://shop.example/cb?a=%20&b#frag"]
)
def test_a_get_callback_appends_its_four_parameters_to_the_query_of_the_url(url: str) -> None:
    sent = outbound.callback(callback(Status.SUCCESSFUL, "GET", url), "3.1.120.89").url
    own = urlsplit(url).query
    assert sent.startswith(
        "https://shop.example/cb?" + (own + "&" if own else "") + "refid=ref%2F1%3F&status=53&price=9.7&"
    )
    assert "#" not in sent
    message = json.loads(parse_qs(urlsplit(sent).query)["message"][0])
    assert message["timestamp"] == "2027-01-01 00:05:09.007"
    assert "data" not in message


def test_an_unset_callback_url_is_empty_and_dated_now() -> None:
    assert account.configuration(CallbackConfig(), AT) == {
        "data": {"Status": "Success", "CallbackUrl": "", "Method": ""},
        "@metadata": {"status_code": 200, "last_updated": "01-01-2027 00:05:09"},
    }
