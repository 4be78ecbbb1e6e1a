"""The control API shows addresses of receivers without the credentials in them, everywhere."""

import json
from urllib.parse import urlencode

import pytest

from simulator.redaction import MASKED
from tests.support.client import running

ONE = "/sandboxes/default"
HIDDEN = "(not shown)"
SECRET_URL = "http://127.0.0.1:9/hook?token=t0ken-t0ken&a=1&b"
SHOWN_URL = f"http://127.0.0.1:9/hook?token={HIDDEN}&a=1&b"
SCENARIO = {
    "extends": "default",
    "webhooks": {"catalog": {"url": SECRET_URL}},
    "resellers": [
        {"code": "RS001", "callback": {"url": SECRET_URL}, "balance_webhook": {"url": SECRET_URL, "enabled": True}}
    ],
}


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


CALLBACK_URLS = [
    "http://127.0.0.1:9/hook?a=1&token=t0ken-t0ken",
    "http://127.0.0.1:9/hook?sig=t0ken-t0ken&a=1",
    "http://127.0.0.1:9/hook;token=t0ken-t0ken?a=1",
]


@pytest.mark.parametrize("url", CALLBACK_URLS)
def test_the_address_that_a_client_sets_stands_nowhere_with_its_credentials(url: str) -> None:
    with running() as client:
        asked = urlencode({"url": url, "method": "POST"})
        assert client.call("POST", f"/v2/callback-url?{asked}").status == 200
        body = json.dumps({"url": url})
        escaped = body.replace("/", "\\/").replace("&", "\\u0026").replace("=", "\\u003d")
        for sent in (body, escaped):
            assert client.call("PUT", "/v2/balance-webhook", sent.encode()).status == 200
        client.call("GET", "/v2/callback-url", headers={"Referer": url})
        client.call("GET", "/v2/balance-webhook")
        lists = ("/requests", "/requests.har", "/events?after=0&timeout=0&only=request")
        paths = [*lists, *(f"/requests/{n}{of}" for n in range(1, 6) for of in ("", ".curl"))]
        for path in paths:
            answer = client.sim("GET", ONE + path)
            assert answer.status == 200, path
            assert b"t0ken" not in answer.body, path
        whole = client.sim("GET", f"{ONE}/requests/2").json["request"]["body"]
        assert whole == body.replace("t0ken-t0ken", MASKED)
        assert client.live.core.state.resellers["RS001"].callback.url == url


def test_the_password_of_a_refused_address_stands_nowhere() -> None:
    url = "https://ann:hunter2-pw@example.com/hook?a=1"
    with running() as client:
        answers = [
            ("unknown path", client.call("GET", f"/v2/{url}")),
            ("unknown member", client.call("PUT", "/v2/balance-webhook", {url: 1})),
            ("callback", client.call("POST", f"/v2/callback-url?{urlencode({'url': url, 'method': 'POST'})}")),
            ("callback, as it is", client.call("POST", f"/v2/callback-url?url={url}&method=POST")),
            ("webhook", client.call("PUT", "/v2/balance-webhook", {"url": url}, headers={"Referer": url})),
            ("reseller", client.sim("POST", f"{ONE}/resellers", {"code": "X", "callback": {"url": url}})),
            ("sandbox", client.sim("POST", "/sandboxes", {"scenario": {"webhooks": {"catalog": {"url": url}}}})),
            ("explain", client.sim("POST", f"{ONE}/explain", {"curl": f"curl {url} {url}"})),
        ]
        for what, answer in answers:
            assert answer.status in (400, 404), what
            assert "hunter2" not in f"{answer.headers} {answer.body!r}", what
        paths = ["/requests", "/requests.har", "/events?after=0&timeout=0", "/events?after=0&timeout=0&with=bodies"]
        paths += [f"/requests/{n}{of}" for n in range(1, 6) for of in ("", ".curl")]
        for path in paths:
            shown = client.sim("GET", ONE + path)
            assert shown.status == 200, path
            assert b"hunter2" not in shown.body, path
            assert b"@example.com" in shown.body.replace(b"%40", b"@"), path
        assert client.call("POST", "/v2/topup", {"refid": "a", "product": url, "account": "1"}).data["product"] == url


def test_a_replay_sets_the_whole_address_again() -> None:
    with running() as client:
        for url in (SECRET_URL, "inbox:other"):
            client.call("POST", f"/v2/callback-url?{urlencode({'url': url, 'method': 'POST'})}")
        callback = client.live.core.state.resellers["RS001"].callback
        assert callback.url == "inbox:other"
        assert client.sim("POST", f"{ONE}/requests/1/replay").json["status"] == 200
        assert client.live.core.state.resellers["RS001"].callback.url == SECRET_URL
