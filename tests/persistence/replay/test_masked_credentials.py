"""A masked tape contains no credential that a client sent, in any place and spelling, and it replays."""

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.persistence.replay.rebuilding import nowhere, player_for
from simulator.persistence.replay.tape_reader import read_tapes
from simulator.persistence.replay.tape_redaction import CannotMask, lines_without_secrets
from simulator.persistence.replay.tape_writer import take_tape
from tests.support.client import Client, running
from tests.support.replaying import play
from tests.support.tiers import examples
from tests.support.unpacked import unpacked

FOREIGN = "Zq7foreign-Credential81"
NUMBER = "7316402958463817"
KEY = b"the-key-of-a-real-account-0001"
SECRET = b64encode(KEY).decode()
PASSWORD = "a-pass/word+of&1=real%user"
SCENARIO: dict[str, Any] = {
    "resellers": [
        {
            "code": "RS001",
            "balance": "5000.00",
            "api_keys": [{"key": "rk_real_account", "secret": SECRET}],
            "users": [{"username": "real", "password": PASSWORD}],
            "callback": {"url": "inbox:callbacks", "method": "POST"},
        }
    ],
}


class Sent(NamedTuple):
    """A request, with `{}` for the secret."""

    method: str = "GET"
    path: str = "/v2/balance"
    query: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    body: str | bytes = ""
    is_signed: bool = True

    def to(self, client: Client, secret: str) -> int:
        """Send it; answers the status."""
        body = self.body.replace(b"{}", secret.encode()) if isinstance(self.body, bytes) else self._text(secret)
        headers = {name: value.replace("{}", secret) for name, value in self.headers}
        query = self.query.replace("{}", secret)
        signed = client.signature(self.method, query, body) if self.is_signed else {}
        return client.send(self.method, self.path.replace("{}", secret), query, body, signed | headers).status

    def _text(self, secret: str) -> bytes:
        assert isinstance(self.body, str), "bytes are replaced as they are"
        return self.body.replace("{}", secret).encode("utf-8", "surrogatepass")


def header(name: str, value: str) -> Sent:
    return Sent(headers=((name, value),))


def body(text: str | bytes, path: str = "/v2/topup") -> Sent:
    return Sent("POST", path, body=text)


def query(text: str, path: str = "/v2/balance") -> Sent:
    return Sent(query=text, path=path)


HEADERS = {
    "cookie": header("Cookie", "session={}; theme=dark"),
    "cookie behind another": header("Cookie", "a=b; session={}; c=d"),
    "set-cookie": header("Set-Cookie", "sid={}; Path=/"),
    "token and more": header("X-Auth-Token", "{} extra"),
    "token": header("X-Auth-Token", "{}"),
    "bearer": header("Authorization", "Bearer {}"),
    "two blanks": header("Authorization", "Bearer  {}"),
    "a tab": header("Authorization", "bearer\t{}"),
    "two schemes": header("Authorization", "Bearer {}, Basic abc"),
    "digest": header("Authorization", 'Digest username="u", nonce="{}", response="x"'),
    "aws": header("Authorization", "AWS4-HMAC-SHA256 Credential={}, Signature=abc"),
    "a part of a token": header("Authorization", "Bearer aaa.{}.ccc"),
    "signature of another kind": header("X-Signature-Secret", "{}"),
    "referer, userinfo": header("Referer", "http://u:{}@h/"),
    "referer, parameter": header("Referer", "http://h/?a=1&token={}"),
    "link": header("Link", "<http://h/?token={}>; rel=next"),
    "unknown key": header("X-Api-Key", "{}"),
}
BODIES = {
    "member": body('{"password":"{}"}'),
    "list": body('{"refid":"1","password":["{}"]}'),
    "cut text": body('{"refid":"1","password":"{}'),
    "unknown escape": body('{"refid":"1","password":"{}\\x"}'),
    "lone surrogate": body('{"password":"{}\\ud800"}'),
    "control character": body('{"password":"{}\n"}'),
    "not quoted": body('{"password":{}}'),
    "no text": body(b'{"password":"\xff{}"}'),
    "no text around": body(b'\xff\xfe{"password":"{}"}'),
    "escaped name": body('{"pass\\u0077ord":"{}"}'),
    "twice": body('{"password":null,"password":"{}"}'),
    "form": body("a=b&password={}&c=d"),
    "address, userinfo": body('{"url":"http:\\/\\/u:{}@h\\/"}'),
    "address, parameter": body('{"url":"http://h/?a=1&token={}"}'),
    "in a deep list": body("[" * 60 + '{"password":"{}"}' + "]" * 60),
}
OF_TOKENS = {
    f"for tokens, {name}": body(text, "/v2/token")
    for name, text in {
        "member": '{"username":"x","password":"{}"}',
        "other member": '{"username":"x","pass":"{}"}',
        "name": '{"{}":1}',
        "cut": '{"username":"x","password":"{}',
        "single quotes": "{'password':'{}'}",
        "yaml": "password: {}",
        "multipart": '--x\r\nContent-Disposition: form-data; name="password"\r\n\r\n{}\r\n--x--',
        "xml": "<password>{}</password>",
        "form": "username=x&password={}",
        "other form": "user=x&pass={}",
        "form behind a blank": "a=b& password={}",
    }.items()
} | {"for tokens, query": query("pass={}", "/v2/token"), "for tokens, elsewhere": body("x {}", "//v2/token/")}
QUERIES = {
    "parameter": query("token={}&page=1"),
    "behind a semicolon": query("a;token={}"),
    "escaped name": query("to%6ben={}"),
    "list": query("token[]={}"),
    "encoded address, userinfo": query("x=http%3A%2F%2Fu%3A{}%40h"),
    "encoded address, parameter": query("x=http%3A%2F%2Fh%2F%3Ftoken%3D{}"),
    "half encoded address, parameter": query("x=http://h/cb%3Ftoken%3D{}"),
    "address with an encoded question mark": query("x=http%3a//h/cb%3Ftoken={}"),
    "address": query("next=http://u:{}@h/"),
    "user": query("next=http://{}@h/"),
}
PATHS = {
    "path, parameter": Sent(path="/v2/balance;token={}"),
    "path, userinfo": Sent(path="/http://u:{}@h/"),
    "not signed": Sent(path="/v2/balance;token={}", is_signed=False),
}
INBOXES = {
    f"inbox, {name}": one._replace(path="/_sim/inbox/default/box", is_signed=False)
    for name, one in (HEADERS | BODIES | QUERIES).items()
    if name != "unknown key"
}
PLACES = HEADERS | BODIES | OF_TOKENS | QUERIES | PATHS | INBOXES


@pytest.fixture
def client() -> Iterator[Client]:
    with running(SCENARIO) as one:
        one.key, one.secret = "rk_real_account", SECRET
        yield one


def assert_hidden(client: Client, secrets: Iterable[bytes]) -> list[bytes]:
    """None of them is on the tape, which replays; answers its lines."""
    lines = list(lines_without_secrets(take_tape(client.live), client.app.replayer))
    read = list(unpacked(lines))
    for secret in secrets:
        assert [one for one in read if secret in one] == []
    (tape,) = read_tapes(lines)
    assert tape.head.masked
    player = player_for(tape.head, client.app.replayer, nowhere())
    assert play(player, tape.entries) is None
    before = [(one.status, one.error) for one in client.live.journal]
    assert [(one.status, one.error) for one in player.live.journal] == before
    return lines


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_a_credential_is_not_on_the_tape(place: str, client: Client) -> None:
    PLACES[place].to(client, FOREIGN)
    # The journal shows the beginning of an unknown key.
    assert_hidden(client, [FOREIGN[8:].encode() if place == "unknown key" else FOREIGN.encode()])


@pytest.mark.parametrize("text", ['{"password":{}}', '{"username":"x","password":{}}'])
@pytest.mark.parametrize("path", ["/v2/topup", "/v2/token"])
def test_a_number_that_is_a_credential_is_not_on_the_tape(text: str, path: str, client: Client) -> None:
    body(text, path).to(client, NUMBER)
    assert_hidden(client, [NUMBER.encode()])


def percent(text: str) -> str:
    return "".join(f"%{each:02x}" for each in text.encode())


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(each):04x}" for each in text)


def base64(text: str) -> str:
    return quote(b64encode(text.encode()).decode(), safe="")


SPELLINGS: dict[str, Callable[[str], str]] = {
    "quoted": lambda text: quote(text, safe=""),
    "base64": base64,
    "base64, 1 before": lambda text: base64("a" + text),
    "base64, 2 before": lambda text: base64("ab" + text),
    "basic": lambda text: base64("real:" + text),
    "base64 for addresses": lambda text: urlsafe_b64encode(f"real:{text}:é~~~".encode()).decode().rstrip("="),
}
ANYWHERE = {
    "query": query("x={}"),
    "header": header("X-Custom", "a {} b"),
    "remarks": body('{"refid":"1","product":"RELOAD","account":"0123456789","amount":10,"remarks":"{}"}'),
    "path": Sent(path="/v2/transactions/{}"),
    "member": body('{"password":"{}"}'),
}


@pytest.mark.slow
@pytest.mark.parametrize("place", ANYWHERE)
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("secret", [SECRET, PASSWORD])
def test_a_secret_of_the_sandbox_is_not_on_the_tape(secret: str, spelling: str, place: str, client: Client) -> None:
    spelled = SPELLINGS[spelling](secret)
    ANYWHERE[place].to(client, spelled)
    of_base64 = b64encode(secret.encode())[:16]
    assert_hidden(client, [secret.encode(), spelled.encode(), of_base64, secret[:14].encode(), KEY])


def test_replies_of_inboxes_have_no_credentials(client: Client) -> None:
    headers = {"Authorization": f"Bearer {FOREIGN}", "Set-Cookie": f"sid={FOREIGN}; Path=/"}
    replies = [{"status": 200, "headers": headers}, {"status": 500, "body": f'{{"access_token":"{FOREIGN}"}}'}]
    assert client.sim("PUT", "/sandboxes/default/inbox/callbacks", {"replies": replies}).status == 200
    client.pay("paid")
    client.advance()
    assert_hidden(client, [FOREIGN.encode()])


def fault(matcher: Any) -> dict[str, Any]:
    return {
        "faults": [{"name": "of a partner", "when": {"headers": {"X-Auth-Token": matcher}}, "then": {"status": 418}}]
    }


def test_a_secret_that_was_sent_as_a_key_to_a_fault_is_not_on_the_tape() -> None:
    faults = [{"when": {"path": "/v2/balance"}, "then": {"status": 418}}]
    with running(SCENARIO | {"faults": faults}) as client:
        assert client.send("GET", "/v2/balance", "", b"", {"x-api-key": SECRET}).status == 418
        assert_hidden(client, [SECRET.encode()])


@pytest.mark.parametrize("matcher", [FOREIGN, [FOREIGN, "other"]])
def test_a_rule_of_a_credential_matches_its_stand_in(matcher: Any) -> None:
    with running(fault(matcher)) as client:
        assert client.call("GET", "/v2/balance", headers={"X-Auth-Token": FOREIGN}).status == 418
        assert_hidden(client, [FOREIGN.encode()])


def test_a_rule_that_no_stand_in_can_match_leaves_no_tape_without_secrets() -> None:
    with running(fault({"suffix": FOREIGN[-5:]})) as client:
        assert client.call("GET", "/v2/balance", headers={"X-Auth-Token": FOREIGN}).status == 418
        with pytest.raises(CannotMask, match="answered otherwise"):
            lines_without_secrets(take_tape(client.live), client.app.replayer)


def test_a_login_with_the_right_password_succeeds_on_the_tape_too(client: Client) -> None:
    for sent in (
        json.dumps({"username": "real", "password": PASSWORD}),
        f"username=real&password={quote(PASSWORD, safe='')}",
    ):
        content = "application/json" if sent[0] == "{" else "application/x-www-form-urlencoded"
        answer = client.send("POST", "/v2/token", "", sent.encode(), {"content-type": content})
        assert answer.status == 200
        token = answer.json["AuthenticationResult"]["IdToken"]
        assert client.send("GET", "/v2/catalog", "", b"", {"authorization": f"Bearer {token}"}).status == 200
        refresh = json.dumps({"refresh_token": answer.json["AuthenticationResult"]["RefreshToken"]}).encode()
        in_json = {"content-type": "application/json"}
        assert client.send("POST", "/v2/token/refresh", "", refresh, in_json).status == 200
    assert_hidden(client, [PASSWORD.encode()])


@pytest.mark.parametrize(
    ("form", "status"),
    {
        f"grant_type=password&username=real&password={quote(PASSWORD, safe='')}&scope=": 200,
        f"username=real&password={quote(PASSWORD, safe='')}&a=1&a=2": 200,
        f"username=nobody&password={FOREIGN}&{FOREIGN}=:": 401,
        f"username=real&password=p&{FOREIGN}": 401,
        f"username=real&passwrod={FOREIGN}": 400,
    }.items(),
)
def test_a_form_with_names_that_are_not_known_is_answered_alike_on_the_tape(
    form: str, status: int, client: Client
) -> None:
    content = {"content-type": "application/x-www-form-urlencoded"}
    assert client.send("POST", "/v2/token", "", form.encode(), content).status == status
    assert_hidden(client, [PASSWORD.encode(), FOREIGN.encode()])


@pytest.mark.parametrize("value", ["Bearer", "BEARER", "Basic"])
def test_a_scheme_without_a_credential_stays(value: str, client: Client) -> None:
    client.send("GET", "/v2/balance", "", b"", {"authorization": value})
    client.send("GET", "/v2/balance", "", b"", {"x-auth-token": FOREIGN})
    lines = assert_hidden(client, [FOREIGN.encode()])
    assert f'["authorization",{json.dumps(value)}]'.encode() in b"".join(lines)


@pytest.mark.parametrize("then", [{"internal_error": True}, {"nonce_service": "down"}])
def test_a_drawn_key_is_masked_even_when_no_request_was_recognized_by_it(then: dict[str, Any]) -> None:
    with running("default") as client:
        scenario = {"extends": "default", "faults": [{"when": {"path": "/v2/balance"}, "then": then}]}
        made = client.sim("POST", "/sandboxes", {"scenario": scenario, "credentials": "unique"}).json
        own = made["resellers"][0]
        for key in (own["api_key"], FOREIGN):
            asked = "/v2/balance?token=x"
            client.call("GET", asked, sandbox=made["id"], key=key, secret=own["api_secret"])
        text = b"".join(lines_without_secrets(take_tape(client.app.sandboxes.get(made["id"])), client.app.replayer))
        assert own["api_key"].encode() in text
        assert FOREIGN[8:].encode() not in text


TOKEN_OF_ANOTHER = {"iss": "https://id.example", "aud": "somebody", "email": FOREIGN, "exp": 1, "jti": FOREIGN}


def test_a_token_of_another_issuer_is_refused_on_the_tape_too(client: Client) -> None:
    parts = [{"alg": "HS256", "typ": "JWT"}, TOKEN_OF_ANOTHER]
    token = ".".join(urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("=") for one in parts)
    client.send("GET", "/v2/balance", "", b"", {"authorization": f"Bearer {token}.c2lnbmF0dXJlLW9mLWFub3RoZXI"})
    assert_hidden(client, [FOREIGN.encode(), b"c2lnbmF0dXJl"])


SIGNS = "abzAQ059-_.~!*éя€"
FOREIGN_SECRETS = st.tuples(st.text(SIGNS, max_size=6), st.text(SIGNS, max_size=12)).map("Q7k2z9X4w".join)
IN_ANY_SPELLING: tuple[Callable[[str], str], ...] = (str, percent, escaped, base64)


@pytest.mark.slow
@settings(max_examples=examples(120))
@given(
    sent=st.lists(
        st.tuples(st.sampled_from(sorted(PLACES)), st.sampled_from(IN_ANY_SPELLING), FOREIGN_SECRETS),
        min_size=1,
        max_size=6,
    )
)
def test_values_that_the_journal_masks_are_not_on_the_tape(
    sent: list[tuple[str, Callable[[str], str], str]],
) -> None:
    with running(SCENARIO) as client:
        client.key, client.secret = "rk_real_account", SECRET
        spelled = []
        for place, spell, secret in sent:
            if not PLACES[place].body:
                secret = secret.encode("ascii", "ignore").decode()
            PLACES[place].to(client, spell(secret))
            spelled += [spell(secret)] if place != "unknown key" else []
        journal = "".join(
            json.dumps(client.sim("GET", f"/sandboxes/default/requests/{one.n}").json, ensure_ascii=False)
            for one in client.live.journal
        )
        hidden = [one for one in spelled if json.dumps(one, ensure_ascii=False)[1:-1] not in journal]
        lines = list(lines_without_secrets(take_tape(client.live), client.app.replayer))
        read = list(unpacked(lines))
        for one in hidden:
            assert [text for text in read if one.encode() in text] == []
        (tape,) = read_tapes(lines)
        assert play(player_for(tape.head, client.app.replayer, nowhere()), tape.entries) is None
