"""The journal masks all but a few harmless values at the token endpoints, and secrets in odd places."""

import json
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.redaction import MASKED, Mask, Secrets
from tests.support.client import Client, running

PATH = "/v2/token"


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b"", b""),
        (b'{"username":"ann","password":"p"}', b'{"username":"ann","password":"(not shown)"}'),
        (b'{"username":"ann","password":7,"refresh_token":null}',
         b'{"username":"ann","password":0,"refresh_token":null}'),
        (b'{"username":"ann","hunter2hunter2":""}', b'{"username":"ann","(not shown)":"(not shown)"}'),
        (b'{"AuthenticationResult":{"IdToken":"t","ExpiresIn":3600}}',
         b'{"AuthenticationResult":{"IdToken":"(not shown)","ExpiresIn":3600}}'),
        (b'{"username":{"password":"p"},"errors":{}}', b'{"username":{"password":"(not shown)"},"errors":{}}'),
        (b"username=ann&password=p", b"username=ann&password=(not shown)"),
        (b"username=ann&p", b"username=ann&(not shown)"),
        (b'{"password":"p"', b"(not shown)"),
        (b'{"password":"p=', b"(not shown)="),
        (b"username=ann&pass=p", b"username=ann&(not shown)=(not shown)"),
        (b"refresh_token=t=t", b"refresh_token=(not shown)"),
        (b"password=a&password=b", b"password=(not shown)&password=(not shown)"),
        (b"user=ann&password: p", b"(not shown)=(not shown)&(not shown)"),
        (b'["p"]', b"(not shown)"),
        (b"p", b"(not shown)"),
    ],
)  # fmt: skip
def test_a_body_of_a_token_endpoint_is_masked(body: bytes, shown: bytes) -> None:
    assert Mask().body(PATH, body) == shown.decode()


def test_a_query_of_a_token_endpoint_is_masked() -> None:
    assert Mask().query(PATH, b"username=ann&p&x=y") == "username=ann&(not shown)&(not shown)=(not shown)"
    assert Mask().query("/v2/topup", b"username=ann&p&x=y") == "username=ann&p&x=y"


@given(body=st.binary(max_size=100))
def test_any_body_can_be_masked(body: bytes) -> None:
    Mask().body(PATH, body)
    Mask().query(PATH, body)


def secrets_of(client: Client) -> dict[str, str]:
    """The values that a client must not find in the journal, by kind."""
    reseller = client.live.core.state.resellers["RS001"]
    user = reseller.users[0]
    body = f"username={user.username}&password={user.password}".encode()
    granted = client.send("POST", "/v2/token", "", body, {"content-type": "application/x-www-form-urlencoded"})
    client.call("PUT", "/v2/balance-webhook", {"url": "inbox:w"})
    return {
        "secret": reseller.keys[0].secret,
        "password": user.password,
        "webhook": reseller.webhook.secret,
        **{name: granted.json["AuthenticationResult"][name] for name in ("IdToken", "AccessToken", "RefreshToken")},
    }


def journaled(client: Client) -> str:
    """All that the journal shows of its newest exchange: in its list, and alone."""
    [newest] = client.sim("GET", "/sandboxes/default/requests?limit=1").json["requests"]
    return json.dumps([newest, client.sim("GET", f"/sandboxes/default/requests/{newest['n']}").json])


def assert_masked(client: Client, secret: str) -> None:
    shown = journaled(client)
    assert MASKED in shown
    for spelling in (secret, quote(secret, safe=""), secret.replace("/", "\\\\/")):
        assert spelling not in shown


@pytest.mark.parametrize("what", ["secret", "password", "webhook", "IdToken", "AccessToken", "RefreshToken"])
def test_a_secret_is_masked_in_every_place(what: str) -> None:
    with running() as client:
        secret = secrets_of(client)[what]
        encoded, slashed = quote(secret, safe=""), secret.replace("/", "\\/")
        for name in ("X-Whatever", "X-Api-Key", "X-Signature"):
            for value in (secret, f"Basic {secret}"):
                client.send("GET", "/v2/balance", headers={name: value})
                assert_masked(client, secret)
        for query in (f"x={encoded}", f"x={secret}", f"{encoded}=1&{encoded}"):
            client.send("GET", "/v2/balance", query)
            assert_masked(client, secret)
        client.send("GET", f"/v2/{encoded}")
        assert_masked(client, secret)
        for body in (f'{{"remarks": "{slashed}"}}', f'{{"{secret}": 1}}', f'{{"extras": {{"{secret}": "1"}}}}', secret):
            client.call("POST", "/v2/topup", body.encode())
            assert_masked(client, secret)
        client.call("GET", f"/v2/catalog?{encoded}=1")
        assert_masked(client, secret)


def test_a_secret_of_the_sandbox_whose_key_was_refused_at_the_root_is_masked() -> None:
    with running() as client:
        wanted = {"credentials": "unique", "clock": {"mode": "manual"}}
        pair = client.sim("POST", "/sandboxes", wanted).json["resellers"][0]
        secret, key = pair["api_secret"], {"X-Api-Key": pair["api_key"]}
        own = pair["username"].partition("-")[2]
        for headers in ({"X-Signature": f"v1={secret}"}, {"X-Whatever": secret}):
            refused = client.send("GET", "/v2/balance", f"x={secret}", headers=key | headers)
            assert (refused.status, refused.headers["x-sim-sandbox"]) == (401, own)
            assert secret not in client.sim("GET", f"/sandboxes/{own}/requests").body.decode()
        assert client.sim("GET", "/sandboxes/default/requests").json["requests"] == []


def test_a_secret_sent_as_a_key_is_never_shown_whole() -> None:
    with running() as client:
        pair = client.sim("POST", "/sandboxes", {"credentials": "unique"}).json["resellers"][0]
        for secret in (pair["api_secret"], "a secret of no one here", client.secret):
            assert client.send("GET", "/v2/balance", headers={"X-Api-Key": secret}).status == 401
            shown = journaled(client)
            assert secret not in shown
            assert f"{secret[:8]}... {MASKED}" in shown
        client.call("GET", "/v2/balance")
        assert MASKED not in journaled(client)


AWKWARD = 'p/a+s s&w"o=r%25d\\\\é€😀=='
"""A password that no encoding leaves as it is."""


@pytest.mark.parametrize("secret", ["bm90+LWE/c2Vj==", AWKWARD, "seven77=", "100%41pure", "it's(a)*/word!"])
@pytest.mark.parametrize(
    "spell",
    [
        str,
        quote_plus,
        lambda text: quote(text, safe=""),
        lambda text: quote(text, safe="!'()*"),  # as encodeURIComponent does
    ],
    ids=["plain", "form", "url", "javascript"],
)
def test_a_secret_is_masked_as_programs_write_it(secret: str, spell: Callable[[str], str]) -> None:
    mask = Mask([Secrets([secret])])
    spelling = spell(secret)
    assert mask.text(f"x%20{spelling}-y\\n") == f"x%20{MASKED}-y\\n"
    assert mask.text(f"{spelling}&{spelling}") == f"{MASKED}&{MASKED}"
    body = f"client_secret={spelling}&a=%41".encode()
    assert mask.body("/v2/topup", body) == f"client_secret={MASKED}&a=%41"


@pytest.mark.parametrize("secret", ["bm90+LWE/c2Vj==", AWKWARD])
def test_a_secret_in_a_string_of_json_is_masked_however_json_escapes_it(secret: str) -> None:
    escaped = json.dumps(secret).replace("+", "\\u002B").replace("&", "\\u0026").replace("=", "\\u003D")
    assert Mask([Secrets([secret])]).body("/v2/topup", f'{{"a": {escaped}}}'.encode()) == f'{{"a": "{MASKED}"}}'


def test_base64_without_its_padding_is_masked() -> None:
    mask = Mask([Secrets(["bm90+LWE/c2Vj=="])])
    assert mask.text("a bm90+LWE/c2Vj b") == f"a {MASKED} b"
    assert mask.query("/v2/topup", b"bm90+LWE/c2Vj==") == MASKED


def test_a_text_without_secrets_is_unchanged() -> None:
    mask = Mask([Secrets(["bm90+LWE/c2Vj=="])])
    for text in ("", "%41%zz%", '{"a": "\\u00e9\\ud83d\\ude00\\ud83d\\/"}', "é😀", "\\"):
        assert mask.text(text) == text


@given(text=st.text(alphabet="%25ab\\\\u0dD83cE=/é", max_size=60))
def test_any_text_can_be_masked_and_no_secret_is_left(text: str) -> None:
    mask = Mask([Secrets(["aaaa/bbbb="])])
    shown = mask.text(f"{text}aaaa/bbbb={text}")
    assert "aaaa/bbbb" not in shown
    assert MASKED in shown


@pytest.mark.parametrize(
    "name",
    [
        "token",
        "access_token",
        "password",
        "Password",
        "api_secret",
        "signature",
        "key",
        "api_key",
        "X-Api-Key",
        "pwd%20",
    ],
)
def test_a_secret_parameter_of_a_query_is_masked(name: str) -> None:
    with running() as client:
        client.send("GET", "/v2/balance", f"{name}=hunter2&product=RELOAD", b"")
        shown = journaled(client)
        assert "hunter2" not in shown
        assert f"{name}={MASKED}&product=RELOAD" in shown


@pytest.mark.parametrize("between", ["/&hook=", "&hook=", "/?hook=", "/?to=/x?hook="])
def test_each_url_of_a_query_is_masked_and_no_other_parameter(between: str) -> None:
    query = f"url=http://one.test{between}http://ann:hunter2-pw@two.test/&mail=me@three.test"
    assert Mask().query("/v2/topup", query) == query.replace("ann:hunter2-pw", MASKED)
    assert Mask().query("/v2/topup", "url=http://one.test&mail=me@two.test") == "url=http://one.test&mail=me@two.test"


@pytest.mark.parametrize("nested", ["?a=", "?a=%//", "?a=%25//", "?a=//b?c=", "?a=%2525252525253D//"])
def test_urls_in_urls_are_hidden_from_some_depth_on(nested: str) -> None:
    shown = Mask().query("/v2/topup", f"{nested * 2_000}&password=hunter2-pw")
    assert shown.endswith(f"&password={MASKED}")
    assert len(shown) < 300


@pytest.mark.parametrize("name", ["X-Api-Secret", "X-Auth-Token", "Password", "Api-Key", "X-Hub-Signature", "Cookie"])
def test_a_secret_header_is_masked(name: str) -> None:
    with running() as client:
        client.send("GET", "/v2/balance", "", b"", {name: "hunter2"})
        assert "hunter2" not in journaled(client)


def test_a_harmless_value_is_not_masked() -> None:
    with running() as client:
        client.call("GET", "/v2/options?product_code=RELOAD&field_id=amount", headers={"Idempotency-Key": "abc"})
        shown = journaled(client)
        assert "product_code=RELOAD&field_id=amount" in shown
        assert '"abc"' in shown
        assert "x-signature" in shown.lower()
        assert MASKED not in shown


def test_a_secret_that_a_diagnosis_cuts_is_masked() -> None:
    with running() as client:
        for secret in (secrets_of(client)["webhook"], secrets_of(client)["secret"]):
            for amount in (secret, "x" * 30 + secret):
                client.pay(amount=amount)
                shown = journaled(client)
                assert MASKED in shown
                assert secret[:12] not in shown
            client.call("GET", f"/v2/catalog?{'z' * 80}{quote(secret, safe='')}=1")
            assert secret[:12] not in journaled(client)


def test_a_refused_secret_is_not_shown_and_the_example_is() -> None:
    with running() as client:
        keys = [{"key": "k", "secret": "hunter2-live-secret!!"}]
        hooks = {"catalog": {"url": "inbox:a", "secret": "hunter2"}}
        scenario: Any = {"resellers": [{"code": "A", "api_keys": keys}], "webhooks": hooks}
        answer = client.sim("POST", "/sandboxes", {"scenario": scenario})
        assert answer.status == 400
        messages = [one["message"] for one in answer.json["problems"]]
    assert messages == [
        "a secret of 21 characters must be Base64 such as c2VjcmV0LWZvci10ZXN0cw==",
        "a secret of 7 characters must be 64 hexadecimal digits",
    ]


@pytest.mark.parametrize("path", ["/v2/balance;token=hunter2-pw", "/v2/balance;a=1;sig=hunter2-pw"])
def test_a_parameter_of_a_path_is_masked(path: str) -> None:
    with running() as client:
        client.send("GET", path, "", b"")
        shown = "".join(
            client.sim("GET", f"/sandboxes/default/requests{one}").body.decode() for one in ("", "/1", ".har")
        )
        assert "hunter2" not in shown
        assert "hunter2" not in client.sim("GET", "/sandboxes/default/requests/1.curl").body.decode()


def test_a_row_of_a_megabyte_is_masked_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: dict[str, list[int]] = {}
    answer = Mask.answer

    def noted(mask: Mask, body: bytes) -> bytes:
        lengths.setdefault(threading.current_thread().name, []).append(len(body))
        return answer(mask, body)

    monkeypatch.setattr(Mask, "answer", noted)
    with running() as client:
        secret = client.live.core.state.resellers["RS001"].keys[0].secret
        for text in ("short", f"{'a' * 500_000} {secret} {'b' * 400_000}"):
            assert client.sim("POST", "/inbox/default/in", {"text": text}).status == 200
        first = client.sim("GET", "/sandboxes/default/inbox/in?limit=1").json
        second = client.sim("GET", "/sandboxes/default/inbox/in?cursor=1").body.decode()
    assert [one["json"] for one in first["items"]] == [{"text": "short"}]
    assert secret not in second
    assert MASKED in second
    (own,) = (name for name in lengths if name != "background")
    assert max(lengths[own]) < 256 * 1024 < 900_000 < max(lengths["background"])
