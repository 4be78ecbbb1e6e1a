"""`explain`: what is wrong with a request, and what it does not understand."""

import json
import shlex
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from click.testing import CliRunner, Result

from simulator.cli.call import default_credentials
from simulator.cli.control import Control
from simulator.cli.main import cli
from simulator.cli.usage import CannotStart
from tests.support.mistaken_clients import (
    CLIENTS,
    KEY,
    NONCE,
    NOW,
    OTHER_KEY,
    OTHER_SECRET,
    POST,
    SECRET,
    Mistaken,
    Request,
    Signer,
)

CREDENTIALS = default_credentials()
HELD_KEY = lambda: b64decode(CREDENTIALS.secret)  # noqa: E731  # a step of a signer
HEADERS = {"X-Api-Key": CREDENTIALS.key, "X-Timestamp": str(NOW), "X-Nonce": NONCE}
BODY = POST.body.decode()


def run(*words: str, stdin: str | None = None) -> Result:
    """Return the output of the verb and its exit code."""
    return CliRunner().invoke(cli, ["explain", *words], input=stdin)


def flags(signature: str, **changed: str | None) -> list[str]:
    """The headers as flags, some changed or, for None, left out."""
    wanted = HEADERS | {"X-Signature": signature} | {name.replace("_", "-"): value for name, value in changed.items()}
    return [word for name, value in wanted.items() if value is not None for word in ("-H", f"{name}: {value}")]


def sign(request: Request = POST, **steps: Any) -> str:
    return Signer(**({"key": HELD_KEY} | steps)).sign(request)


def explained(signature: str, *more: str, **changed: str | None) -> Result:
    """Return the headers of `POST`, at its time."""
    return run("POST", "/v2/topup", "-d", BODY, "--at", str(NOW), *flags(signature, **changed), *more)


def test_a_mistake_is_explained_with_the_strings_and_the_right_signature() -> None:
    said = explained(sign(method=str.lower))
    assert said.exit_code == 1
    lines = said.stdout.splitlines()
    assert lines[:3] == [
        "POST /v2/topup",
        "invalid_signature: the method is in lower case",
        "fix: sign the method in capitals",
    ]
    assert lines[3].startswith(f"expected   v1:{NOW}:{NONCE}:POST::")
    assert lines[4].startswith(f"signed     v1:{NOW}:{NONCE}:post::")
    assert lines[5] == " " * len(f"signed     v1:{NOW}:{NONCE}:") + "^"
    assert lines[6] == f"signature  {sign()}"


def test_two_mistakes_are_explained_as_json() -> None:
    said = explained(sign(method=str.lower, encode=bytes.hex), "--json")
    made = json.loads(said.stdout)
    assert made["autopsy"]["mistakes"] == ["method-in-lower-case", "signature-hexadecimal"]
    assert [one["code"] for one in made["problems"]] == ["invalid_signature"]
    assert made["signature"] == sign()
    fixes = [line for line in explained(sign(method=str.lower, encode=bytes.hex)).stdout.splitlines() if "fix:" in line]
    assert fixes == ["fix: sign the method in capitals", "fix: encode the raw digest in Base64"]
    assert said.exit_code == 1


def test_a_right_request_is_right() -> None:
    said = explained(sign())
    assert (said.exit_code, said.stdout) == (0, "POST /v2/topup\nthe signature is right\n")


def test_a_secret_can_be_given() -> None:
    said = explained(sign(key=lambda: b"mine"), "--secret", "bWluZQ==", X_Api_Key="my-own")
    assert said.exit_code == 0


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"X_Nonce": None}, "missing_hmac_headers: not sent: X-Nonce"),
        ({"X_Signature": ""}, "empty_hmac_values: sent without a value: X-Signature"),
        ({"X_Nonce": "short"}, "invalid_nonce_format: the nonce has 5 characters; it must have 16 to 128"),
        ({"X_Nonce": "n" * 16 + "!"}, "invalid_nonce_format: the nonce has '!'"),
        ({"X_Timestamp": str(NOW * 1000)}, "timestamp_expired: the timestamp is in milliseconds; send seconds"),
        ({"X_Timestamp": "1700000000000"}, "timestamp_expired: the timestamp is in milliseconds; send seconds"),
        ({"X_Timestamp": str(NOW - 400)}, "timestamp_expired: the timestamp is 400 s behind"),
        ({"X_Timestamp": "soon"}, "invalid_timestamp_format: X-Timestamp must be whole seconds"),
        ({"X_Api_Key": None}, "missing_api_key: X-Api-Key is absent"),
        ({"X_Signature": "v1=A-_A"}, "invalid_signature_format: "),
    ],
)
def test_other_refusals_are_explained(changed: dict[str, str | None], said: str) -> None:
    made = explained(sign(), "--secret", CREDENTIALS.secret, **changed)
    assert said in made.stdout
    assert made.exit_code == 1
    assert "signature  v1=" not in made.stdout or "X_Signature" in changed


RIGHT = f"v1:{NOW}:{NONCE}:POST::{Signer().hashed(POST.body)}"
NOT_OF_IT = "the signature was not made of it with this secret"


@pytest.mark.parametrize(
    ("mine", "says", "fix"),
    [
        (RIGHT.replace("POST", "post"), "the method is 'post' where 'POST' is expected", "sign the method"),
        (RIGHT.replace("POST", "Pst"), "the method is 'Pst' where 'POST' is expected", "sign the method that is sent"),
        (RIGHT.replace("v1", "v9"), "the version is 'v9' where 'v1' is expected", "begin the string with v1:"),
        (RIGHT.replace(str(NOW), "17"), f"the timestamp is '17' where '{NOW}' is expected", "sign the value of X-Time"),
        (RIGHT.replace(NONCE, "abc"), f"the nonce is 'abc' where '{NONCE}' is expected", "sign the value of X-Nonce"),
        (RIGHT.replace("::", ":a=1:b:"), "the query is present, though none was sent", "sign what follows the ?"),
        (RIGHT[:-9], "the body hash is another", "sign the Base64 of the SHA-256"),
        (RIGHT.replace("::", "::x") + "\n", "the body hash is another", "sign the Base64 of the SHA-256"),
        (RIGHT.replace("POST", "Pst")[:-9], "'POST' is expected, and the body hash is another", "sign the Base64"),
        ("v1 and more", "there are not six pieces between colons, and from the version on it differs", "sign v1:<time"),
    ],
)
def test_the_string_that_a_client_signed_is_compared(mine: str, says: str, fix: str) -> None:
    """Compare with the right secret and with another secret."""
    of_it = json.loads(explained(sign(join=lambda *_: mine), "--string", mine, "--json").stdout)["autopsy"]["compared"]
    assert says in of_it["sentence"]
    assert fix in of_it["fix"]
    assert of_it["is_signed"]
    other = json.loads(explained(sign(key=lambda: b"x"), "--string", mine, "--json").stdout)["autopsy"]["compared"]
    assert other["sentence"].startswith("in your string ")
    assert says in other["sentence"]
    assert other["sentence"].endswith(NOT_OF_IT)
    assert not other["is_signed"]


def test_a_caret_stands_below_the_first_difference_of_the_given_string() -> None:
    mine = f"v1:{NOW}:{NONCE}:POST:oops:x"
    lines = explained(sign(join=lambda *_: mine), "--string", mine).stdout.splitlines()
    assert lines[1].startswith("invalid_signature: your string was signed: the query is present")
    at = next(at for at, one in enumerate(lines) if one.startswith("yours      v1:"))
    assert lines[at - 1].startswith("expected   v1:")
    assert lines[at + 1].index("^") == lines[at].index("oops")
    assert "--string" not in "\n".join(lines)


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ({"key": lambda: b"unknown"}, f"your string is as expected, but {NOT_OF_IT}"),
        ({"encode": bytes.hex}, "your string is as expected, and the signature is hexadecimal"),
    ],
)
def test_a_right_string_leaves_only_mistakes_in_signing_it(steps: dict[str, Any], says: str) -> None:
    assert says in explained(sign(**steps), "--string", RIGHT).stdout


def test_without_a_string_the_answer_says_what_to_paste() -> None:
    lines = explained(sign(key=lambda: b"unknown")).stdout.splitlines()
    assert any(one.startswith("fix: print the string that your client passes to the HMAC") for one in lines)
    assert any("--string" in one for one in lines)


def test_the_string_comes_from_a_file_or_from_stdin(tmp_path: Path) -> None:
    mine = RIGHT.replace("POST", "PSOT")
    (file := tmp_path / "signed").write_text(mine + "\n")
    wrong = sign(join=lambda *_: mine)
    words = ("POST", "/v2/topup", "-d", BODY, "--at", str(NOW), *flags(wrong))
    for said in (run(*words, "--string", f"@{file}"), run(*words, "--string", "-", stdin=mine + "\n")):
        assert "your string was signed: the method is 'PSOT'" in said.stdout


def test_a_string_is_sent_with_the_number_of_a_request(answers: Callable[[dict[str, Any]], None]) -> None:
    answers({f"/requests/17?{urlencode({'string': RIGHT})}": EXCHANGE})
    assert run("17", "--string", RIGHT).exit_code == 1


def curl(*more: str, signature: str = "", body: str = "--data-raw") -> str:
    words = ["curl", "-sS", *flags(signature or sign(method=str.lower)), *more, "http://127.0.0.1:1/v2/topup"]
    return shlex.join([*words, body, BODY])


@pytest.mark.parametrize(
    "pasted",
    [curl(), curl("-XPOST", "-o", "/dev/null"), curl(body="--data-binary"), curl(body="-d"), curl("--max-time", "5")],
)
def test_a_curl_command_is_read(pasted: str) -> None:
    for said in (
        run("--at", str(NOW), "--", *shlex.split(pasted)),
        run("--at", str(NOW), "-", stdin=pasted.replace(" -H", " \\\n  -H")),
    ):
        assert "the method is in lower case" in said.stdout, said.output
        assert said.exit_code == 1


@pytest.mark.parametrize(
    ("off_s", "said"),
    [
        (28_800, "8 h ahead: local time signed as UTC?"),
        (-3602, "1 h behind: local time signed as UTC?"),
        (1800, "1,800 s ahead"),
    ],
)
def test_a_clock_that_is_off_by_hours_is_taken_for_local_time(off_s: int, said: str) -> None:
    lines = explained(sign(), X_Timestamp=str(NOW + off_s)).stdout
    assert said in lines
    assert ("local time" in lines) == (off_s != 1800)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "give METHOD and PATH"),
        (("GET",), "give METHOD and PATH"),
        (("POST", "/v2/topup", "{}"), "such as GET /v2/balance, with -d for a body"),
        (("--", "curl", "-X"), "-X of the command has no value"),
        (("--", "curl", "-s"), "the command has no URLs"),
        (("GET", "/v2/balance", "--at", "noon"), "--at"),
    ],
)
def test_wrong_usage_is_2(words: tuple[str, ...], said: str) -> None:
    made = run(*words)
    assert made.exit_code == 2
    assert said in made.stderr


EXCHANGE: dict[str, Any] = {
    "n": 17,
    "method": "GET",
    "path": "/v2/balance",
    "query": "",
    "status": 401,
    "error": "nonce_reused",
    "diagnosis": "each request needs a nonce of its own",
    "autopsy": None,
}


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, Any]], None]:
    """The answers of the control API, by the ends of paths."""

    def answer(by_path: dict[str, Any]) -> None:
        def ask(control: Control, method: str, path: str, *, query: dict[str, Any] | None = None) -> Any:
            target = f"/sandboxes/{control.sandbox}{path}" + (f"?{urlencode(query)}" if query else "")
            return next(value for end, value in by_path.items() if target.endswith(end))

        monkeypatch.setattr(Control, "ask", ask)

    return answer


def test_a_request_of_the_journal_is_explained(answers: Callable[[dict[str, Any]], None]) -> None:
    answers({"/requests/17": EXCHANGE, "limit=1": {"requests": [{"n": 17}]}})
    for words in (("17",), ("--last",)):
        said = run(*words)
        assert said.exit_code == 1
        assert said.stdout.splitlines() == [
            "request 17: GET /v2/balance, 401",
            "nonce_reused: each request needs a nonce of its own",
        ]
    assert json.loads(run("17", "--json").stdout)["error"] == "nonce_reused"


def test_a_signature_of_wrong_form_is_explained_as_the_header_does(
    answers: Callable[[dict[str, Any]], None],
) -> None:
    found = {
        "is_right": False,
        "mistakes": [],
        "sentence": "no known mistake",
        "fix": "compare",
        "nearest": None,
        "compared": None,
    }
    found |= {"expected": {"canonical_string": "v1:", "parts": {}}}
    of_form = {"error": "invalid_signature_format", "diagnosis": "nothing follows v1=", "autopsy": found}
    answers({"/requests/17": EXCHANGE | of_form})
    lines = run("17").stdout.splitlines()
    assert lines[1] == "invalid_signature_format: nothing follows v1="
    said = explained("v1=b'" + sign().removeprefix("v1=") + "'").stdout
    assert "the signature is written as Python prints bytes" in said


def test_a_journal_without_refusals_leaves_nothing_to_explain(answers: Callable[[dict[str, Any]], None]) -> None:
    answers({"limit=1": {"requests": []}, "/requests/17": EXCHANGE | {"error": "", "status": 200, "diagnosis": ""}})
    nothing = run("--last")
    assert (nothing.exit_code, run("--last", "--json").stdout) == (1, "null\n")
    assert "the journal has no refused request" in nothing.stdout
    assert "it was not refused" in run("17").stdout


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({"error": "", "status": 400, "diagnosis": "url is required"}, "it was refused: url is required"),
        ({"error": "", "status": 404, "diagnosis": ""}, "it was refused: the journal has no more about it"),
        ({"error": "ip_blocked", "status": 403, "diagnosis": "too many"}, "ip_blocked: too many"),
    ],
)
def test_the_last_request_is_explained_for_every_refusal(
    facts: dict[str, Any], line: str, answers: Callable[[dict[str, Any]], None]
) -> None:
    answers(
        {"/requests/17": EXCHANGE | facts, "status_min=400&status_max=499&limit=1": {"requests": [{"n": 17}]}},
    )
    said = run("--last")
    assert (said.exit_code, said.stdout.splitlines()[1]) == (1, line)
    assert json.loads(run("--last", "--json").stdout)["is_right"] is False


@pytest.mark.parametrize(
    ("verdict", "message", "said"),
    [("valid", "the bearer token belongs to RS001", (0, "the bearer token belongs to RS001")),
     ("invalid_token", "the token expired", (1, "invalid_token: the token expired"))],
)  # fmt: skip
def test_a_bearer_token_is_judged_by_the_running_simulator(
    verdict: str, message: str, said: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def ask(_: Control, method: str, path: str, body: Any) -> Any:
        asked.append((path, body))
        return {"verdict": verdict, "message": message}

    monkeypatch.setattr(Control, "ask", ask)
    made = run("--", "curl", "http://h/v2/balance", "-H", "Authorization: Bearer T")
    assert (made.exit_code, made.stdout.splitlines()[1]) == said
    headers = [["Authorization", " Bearer T"]]
    assert asked == [("/explain", {"method": "GET", "path": "http://h/v2/balance", "headers": headers})]
    assert (
        "--at needs a signed request" in run("--at", "1", "GET", "/v2/balance", "-H", "Authorization: Bearer T").stderr
    )


@pytest.mark.parametrize("path", ["/v2/token", "/s/mine/v2/token/refresh", "http://h/v2/token?x=1"])
def test_a_request_for_tokens_needs_no_credentials_in_its_headers(path: str) -> None:
    made = run("POST", path, "-d", "username=a")
    assert (made.exit_code, made.stdout.splitlines()[1]) == (0, "this endpoint takes no credentials in its headers")
    assert "missing_api_key" in run("GET", path).stdout


def test_a_bearer_token_needs_a_running_simulator(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(*_: Any) -> Any:
        raise CannotStart("no simulator answers")

    monkeypatch.setattr(Control, "ask", ask)
    made = run("GET", "/v2/balance", "-H", "Authorization: Bearer T")
    assert (made.exit_code, made.stdout) == (3, "")
    assert "only a running simulator knows which tokens it issued" in made.stderr


def test_the_secret_of_a_key_is_asked_of_a_running_simulator(answers: Callable[[dict[str, Any]], None]) -> None:
    resellers = [
        {"code": "A", "api_key": "a-key", "api_secret": "bWluZQ=="},
        {"code": "B", "api_key": "b-key", "api_secret": "eW91cnM="},
    ]
    answers({"/sandboxes/mine": {"resellers": resellers}})
    assert explained(sign(key=lambda: b"mine"), "--sandbox", "mine", X_Api_Key="a-key").exit_code == 0
    other = explained(sign(key=lambda: b"yours"), "--sandbox", "mine", X_Api_Key="a-key")
    assert "the secret belongs to the key b-key of B" in other.stdout
    unknown = explained(sign(), "--sandbox", "mine", X_Api_Key="a-kye")
    assert "no secret is known for the key a-kye; give --secret" in unknown.stdout


API_KEY = default_credentials().key
SENT = (
    "-H",
    f"X-Api-Key: {API_KEY}",
    "-H",
    f"X-Timestamp: {NOW}",
    "-H",
    f"X-Nonce: {NONCE}",
    "-H",
    "X-Signature: v1=AAAA",
)
CURL = ("--", "curl", "http://h/v2/balance")


def run_uncaught(*words: str, stdin: str | bytes | None = None) -> Result:
    """Return the output of the verb and its exit code. An exception that nothing caught fails the test."""
    return CliRunner().invoke(cli, ["explain", *words], input=stdin, catch_exceptions=False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--last", "17"), "--last takes no '17': it finds the request itself"),
        (("17", "-H", "A: b"), "--header needs METHOD and PATH"),
        (("17", "--at", "1"), "--at needs METHOD and PATH"),
        (("--last", "--secret", "YQ=="), "--secret needs METHOD and PATH"),
        (("-d", "x", *CURL), "--data needs METHOD and PATH"),
        (("GRAB", "/v2/balance"), "give METHOD and PATH, such as GET /v2/balance"),
        (("GET", "/v2/balance", "-H", "X-Nonce"), "'X-Nonce' is not a header: give 'NAME: VALUE'"),
        (("GET", "/v2/balance", "-H", ": x"), "': x' is not a header"),
        (("GET", "/v2/balance", *SENT, "--secret", " "), "--secret is empty"),
        (("GET", "/v2/balance", *SENT, "--secret", "x"), "the secret is not Base64"),
        (("GET", "/v2/balance", *SENT, "--at", "9" * 400), "is neither Unix seconds nor a time such as"),
        (("GET", "/v2/balance", *SENT, "--at", "\u00b2"), "is neither Unix seconds nor a time such as"),
        (("GET", "/v2/balance", *SENT, "--at", "inf"), "is neither Unix seconds nor a time such as"),
        (("GET", "/v2/balance", "--string", ""), "--string is empty"),
        (("GET", "/v2/balance", "--string", "@/nowhere"), "the string '/nowhere' cannot be read: No such file"),
        (("GET", "/v2/balance", "--string", "@/dev/zero"), "the string '/dev/zero' is not a regular file"),
        (("GET", "/v2/balance", "--string", "x" * 65_537), "the string has more than 65536 bytes"),
        (("POST", "/v2/topup", "-d", "-", "--string", "-"), "stdin can be read once"),
        (("-", "--string", "-"), "stdin can be read once"),
        (("POST", "/v2/topup", "-d", "@/nowhere"), "the body '/nowhere' cannot be read: No such file"),
        ((*CURL, "http://h/v2/topup"), "the command has 2 URLs: give one request"),
        ((*CURL, "-H", "@headers"), "the header '@headers' is not read"),
        ((*CURL, "-K", "more"), "--config of the command is not read"),
        ((*CURL, "--next"), "--next of the command is not read"),
        ((*CURL, "-H", "nothing"), "the header 'nothing' is not read"),
        ((*CURL, "-d", "@-"), "the command reads its body from stdin"),
        ((*CURL, "-d", "@/nowhere"), "the body '/nowhere' cannot be read"),
        ((*CURL, "-d"), "-d of the command has no value"),
        (("--", "curl"), "the command has no URLs"),
    ],
)
def test_a_wrong_use_is_refused_with_a_sentence(words: tuple[str, ...], said: str) -> None:
    made = run_uncaught(*words)
    assert made.exit_code == 2
    assert said in made.stderr
    assert made.stderr.startswith("cli explain: ")


def test_a_string_from_stdin_is_bounded() -> None:
    made = run_uncaught("GET", "/v2/balance", "--string", "-", stdin=b"x" * 65_537)
    assert "stdin has more than 65536 bytes" in made.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("GET", "http://h\udcff/s/x/v2/balance?a=\udcff", *SENT),
        ("GET", "/v2/balance", *SENT, "-H", "X-Nonce: \udcff\udcfe"),
        ("GET", "/v2/balance", *SENT, "-H", "X-Api-Key: \udcff", "--secret", "YQ=="),
        ("GET", "/v2/balance", *SENT, "--string", "v1:\udcff\n\x1b[2J"),
        ("POST", "/v2/topup", *SENT, "-d", "\udcff"),
        ("--", "curl", "-X", "P\udcffST", "http://h/v2/topup", *SENT),
        ("--", "curl", "http://h/v2/topup", *SENT, "--data-urlencode", "\udcff=\udcfe"),
        ("--", "curl", "http://h/v2/topup", *SENT, "-H", "X-Other;"),
        ("GET", "/v2/balance", *SENT, *SENT),
        ("GET", "/v2/balance", *SENT, "-H", "X-Timestamp: " + "9" * 5000),
        ("GET", "/v2/balance", *SENT, "-H", "X-Signature: v1=" + "A" * 90_000),
    ],
)
def test_bytes_that_are_no_text_and_odd_headers_are_explained_as_any(words: tuple[str, ...]) -> None:
    made = (
        run_uncaught("--at", str(NOW), *words[:1], *words[1:])
        if words[0] != "--"
        else run_uncaught("--at", str(NOW), *words)
    )
    assert made.exit_code == 1
    assert "\x1b" not in made.stdout
    assert ": " in made.stdout.splitlines()[1]


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (f"X-Nonce: {NONCE}", "invalid_nonce_format: the nonce has ','; only"),
        (f"X-Timestamp: {NOW}", "digits only"),
        ("X-Signature: v1=AAAA", "what follows v1= is not Base64"),
    ],
)
def test_a_header_that_was_sent_twice_is_named(header: str, said: str) -> None:
    made = run_uncaught("GET", "/v2/balance", "--at", str(NOW), *SENT, "-H", header)
    assert made.exit_code == 1
    assert said in made.stdout
    assert "sent more than once" in made.stdout


def test_a_long_command_of_many_pieces_is_read_in_a_single_pass() -> None:
    made = run_uncaught("-", stdin="curl http://h/v2/topup -d " + "a'b'" * 500_000)
    assert made.exit_code == 1
    assert "missing_api_key" in made.stdout


def test_a_url_without_a_scheme_is_read_as_curl_does() -> None:
    made = run_uncaught("--", "curl", "h:8080/s/one/v2/catalog?a=1")
    assert made.stdout.splitlines()[0] == "GET http://h:8080/s/one/v2/catalog?a=1"


def test_an_unknown_key_without_a_simulator_asks_for_its_secret() -> None:
    sent = [word.replace(API_KEY, "theirs") for word in SENT]
    made = run_uncaught("GET", "/v2/balance", "--at", str(NOW), *sent, "--url", "http://127.0.0.1:9")
    assert made.exit_code == 3
    assert "; or give the secret of theirs with --secret" in made.stderr


def test_a_signature_of_wrong_form_has_a_fix_of_its_own() -> None:
    made = run_uncaught("GET", "/v2/balance", "--at", str(NOW), *SENT, "-H", "X-Signature: v1=BBBB")
    assert "fix: send v1= and the 44 characters" in made.stdout


# Facts that a request lacks: the nonce of the request before it, and secrets that only a simulator has.
UNSEEN = {"nonce-another", "secret-of-another", "secret-replaced"}
# Five of them, of different kinds; tests/auth tries each.
SAMPLE = CLIENTS[:: len(CLIENTS) // 5 + 1]
NAMES = [client.id for client in SAMPLE]


def url(client: Mistaken) -> str:
    request = client.request
    return f"http://sim.test/s/mine{request.path}" + (f"?{request.query}" if request.query else "")


def headers(client: Mistaken) -> list[str]:
    sent = {"X-Api-Key": KEY, "X-Timestamp": str(NOW), "X-Nonce": NONCE, "X-Signature": client.sign()}
    return [word for name, value in sent.items() for word in ("-H", f"{name}: {value}")]


def mistakes(*words: str, stdin: str | None = None) -> list[str]:
    """What the verb names."""
    said = CliRunner().invoke(cli, ["explain", "--at", str(NOW), "--secret", SECRET, "--json", *words], input=stdin)
    assert said.exit_code == 1, said.output
    found: list[str] = json.loads(said.stdout)["autopsy"]["mistakes"]
    return found


def named(client: Mistaken) -> list[str]:
    return [] if client.id in UNSEEN else [client.id]


@pytest.mark.parametrize("client", SAMPLE, ids=NAMES)
def test_flags_are_enough(client: Mistaken) -> None:
    body = ["-d", client.request.body.decode()] if client.request.body else []
    assert mistakes(client.request.method, url(client), *headers(client), *body) == named(client)


@pytest.mark.parametrize("client", SAMPLE, ids=NAMES)
def test_a_curl_command_is_enough(client: Mistaken) -> None:
    words = ["curl", "-sS", "-X", client.request.method, url(client), *headers(client)]
    words += ["--data-binary", client.request.body.decode()] if client.request.body else []
    assert mistakes("--", *words) == named(client)
    assert mistakes("-", stdin=shlex.join(words)) == named(client)


def test_the_secret_of_another_key_is_named_when_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {KEY: (SECRET, "ME"), OTHER_KEY: (OTHER_SECRET, "THEM")}
    monkeypatch.setattr("simulator.cli.explain.default_secrets", lambda: known)
    theirs = [one for one in CLIENTS if one.id == "secret-of-another"]
    assert theirs
    for client in theirs:
        body = client.request.body.decode()
        assert mistakes(client.request.method, url(client), *headers(client), "-d", body) == ["secret-of-another"]
