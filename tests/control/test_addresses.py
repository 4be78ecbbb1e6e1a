"""Addresses of receivers are shown without the credentials in them, wherever the control API has one."""

import pytest

from simulator.control.addresses import shown_address
from tests.support.client import running

ONE = "/sandboxes/default"
HIDDEN = "(not%20shown)"
SECRET_URL = "http://127.0.0.1:9/hook?token=t0ken-t0ken&a=1&b"
SHOWN_URL = f"http://127.0.0.1:9/hook?token={HIDDEN}&a=1&b"
SCENARIO = {
    "extends": "default",
    "webhooks": {"catalog": {"url": SECRET_URL}},
    "resellers": [
        {"code": "RS001", "callback": {"url": SECRET_URL}, "balance_webhook": {"url": SECRET_URL, "enabled": True}}
    ],
}


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("", ""),
        ("inbox:callbacks", "inbox:callbacks"),
        ("http://h/hook", "http://h/hook"),
        ("http://h/hook?", "http://h/hook?"),
        ("http://h/hook?a=1&&b=%20#token=x", "http://h/hook?a=1&&b=%20#token=x"),
        ("http://h/a@b?c=d@e", "http://h/a@b?c=d@e"),
        (SECRET_URL, SHOWN_URL),
        ("http://h?Access_Token=x&api%5Fkey=y&key=z&sort_key=w", f"http://h?Access_Token={HIDDEN}&api%5Fkey={HIDDEN}&key={HIDDEN}&sort_key={HIDDEN}"),
        ("http://h?token=&password", "http://h?token=&password"),
    ],
)  # fmt: skip
def test_credentials_are_hidden_and_nothing_else(url: str, shown: str) -> None:
    assert shown_address(url) == shown


def test_no_list_of_the_control_api_shows_the_credentials_of_an_address() -> None:
    with running(SCENARIO) as client:
        client.pay("order-1")
        client.sim("POST", f"{ONE}/resellers/RS001/deposits", {"amount": "5.00"})
        client.sim("PATCH", f"{ONE}/catalog/products/RELOAD", {"note": "another"})
        advanced = client.sim("POST", f"{ONE}/clock/advance", {"seconds": 600})
        trxid = client.sim("GET", f"{ONE}/transactions").json["transactions"][0]["trxid"]
        lists = ("", "/resellers", "/callbacks", "/deliveries", "/figures", "/due", f"/transactions/{trxid}")
        answers = [(path, client.sim("GET", ONE + path)) for path in (*lists, "/events?after=0&timeout=0")]
        answers += [("advance", advanced), ("probes", client.sim("POST", f"{ONE}/probes", {}))]
        for path, answer in answers:
            assert answer.status == 200, (path, answer.body)
            assert b"t0ken" not in answer.body, path
            assert (SHOWN_URL.encode() in answer.body) == (path != "/due"), path
        assert SECRET_URL.encode() in client.call("GET", "/v2/balance-webhook").body  # the account's own
        whole = client.sim("GET", f"{ONE}/events?after=0&timeout=0&only=callback&with=bodies").body.decode()
        assert f'"url":"{SECRET_URL}"' in whole  # of `sent`, which is sent again
