"""Addresses of receivers are shown without the credentials in them, wherever the control API has one."""

import json
from urllib.parse import urlencode

import pytest

from simulator.wire.secrets import MASKED
from simulator.wire.shown_addresses import shown_address, with_shown_addresses
from tests.support.client import running

ONE = "/sandboxes/default"
HARMLESS_NAMES = (
    "author", "bypass", "design", "keyword", "a", "product_code", "subproduct_code", "status_code", "barcode", "codec",
    "passenger", "monkey",
)  # fmt: skip
SECRET_NAMES = (
    "token", "sig", "auth", "jwt", "pass", "hmac", "accessKey", "access_key", "bearer", "apikey", "X-Amz-Signature",
    "client_secret", "user.key", "Authorization", "AWSAccessKeyId", "webhookKey", "sharedkey", "signing-key",
    "privatekey", "authkey", "passphrase", "pass_code", "userPass", "hookSig", "code", "auth_code", "oauthCode",
)  # fmt: skip
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
        ("http://u:p@h?token=x", f"http://{HIDDEN}@h?token={HIDDEN}"),
        ("http://h?to=http%3A%2F%2Fu%3Ap%40i&a=1", f"http://h?to=http%3A%2F%2F{HIDDEN}%40i&a=1"),
        (SECRET_URL, SHOWN_URL),
        ("http://h?Access_Token=x&api%5Fkey=y&key=z&sort_key=w", f"http://h?Access_Token={HIDDEN}&api%5Fkey={HIDDEN}&key={HIDDEN}&sort_key={HIDDEN}"),
        ("http://h?token=&password", "http://h?token=&password"),
        ("http://h?token=x#part", f"http://h?token={HIDDEN}#part"),
        ("http://h/a;token=x?b=1", f"http://h/a;token={HIDDEN}?b=1"),
        ("http://h?b=1;token=x;y&c=2", f"http://h?b=1;token={HIDDEN}&c=2"),
        ("http://h?token=a%26b%23c&d=1", f"http://h?token={HIDDEN}&d=1"),
        ("http://h?to=http%3A%2F%2Fi%3Ftoken%3Da%2526b%26c%3D1&d=1", f"http://h?to=http%3A%2F%2Fi%3Ftoken%3D{HIDDEN}%26c%3D1&d=1"),
        ("http://h?to=http%253A%252F%252Fi%253Ftoken%253Dx%2526c%253D1", f"http://h?to=http%253A%252F%252Fi%253Ftoken%253D{HIDDEN}%2526c%253D1"),
        ("http://h?to=http://i?token=x&d=1", f"http://h?to=http://i?token={HIDDEN}&d=1"),
        *((f"http://h?{name}=x&a=1", f"http://h?{name}={HIDDEN}&a=1") for name in SECRET_NAMES),
        *((f"http://h?{name}=x&a=1", f"http://h?{name}=x&a=1") for name in HARMLESS_NAMES),
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


@pytest.mark.slow
def test_a_long_text_of_addresses_is_masked_in_one_pass() -> None:
    """Were each part looked at from each other one, this would take hours."""
    text = "http://h" + "?a%3B" * 40_000 + " http%3A%2F%2Fh" + ";token" * 40_000 + "%3Ftoken=x" * 40_000
    assert "=x" not in with_shown_addresses(text)
