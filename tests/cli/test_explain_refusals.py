"""What `reseller-sim explain` is given wrong: each refusal says what was wrong, where, and what to do."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from simulator.cli.call import defaultcredentials
from simulator.cli.main import cli
from tests.support.mistaken_clients import NONCE, NOW

KEY = defaultcredentials().key
SENT = ("-H", f"X-Api-Key: {KEY}", "-H", f"X-Timestamp: {NOW}", "-H", f"X-Nonce: {NONCE}", "-H", "X-Signature: v1=AAAA")
CURL = ("--", "curl", "http://h/v2/balance")


def run(*words: str, stdin: str | bytes | None = None) -> Result:
    """What the verb prints, and its exit code. An exception that nothing caught fails the test."""
    return CliRunner().invoke(cli, ["explain", *words], input=stdin, catch_exceptions=False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--last", "17"), "--last takes no '17': it finds the request itself"),
        (("17", "-H", "A: b"), "--header goes with METHOD and PATH"),
        (("17", "--at", "1"), "--at goes with METHOD and PATH"),
        (("--last", "--secret", "YQ=="), "--secret goes with METHOD and PATH"),
        (("-d", "x", *CURL), "--data goes with METHOD and PATH"),
        (("GRAB", "/v2/balance"), "give METHOD and PATH, such as GET /v2/balance"),
        (("GET", "/v2/balance", "-H", "X-Nonce"), "the header 'X-Nonce' has no colon; give 'NAME: VALUE'"),
        (("GET", "/v2/balance", "-H", ": x"), "the header ': x' has no name"),
        (("GET", "/v2/balance", *SENT, "--secret", " "), "--secret is empty"),
        (("GET", "/v2/balance", *SENT, "--secret", "x"), "the secret is not Base64"),
        (("GET", "/v2/balance", *SENT, "--at", "9" * 400), "is neither Unix seconds nor a time such as"),
        (("GET", "/v2/balance", *SENT, "--at", "\u00b2"), "is neither Unix seconds nor a time such as"),
        (("GET", "/v2/balance", *SENT, "--at", "inf"), "is neither Unix seconds nor a time such as"),
        (("GET", "http://[h/v2/balance", *SENT), "the URL 'http://[h/v2/balance' cannot be read: Invalid IPv6 URL"),
        (("GET", "/v2/balance", "--string", ""), "--string is empty"),
        (("GET", "/v2/balance", "--string", "@/nowhere"), "the string '/nowhere' cannot be read: No such file"),
        (("GET", "/v2/balance", "--string", "@/dev/zero"), "the string '/dev/zero' is no regular file"),
        (("GET", "/v2/balance", "--string", "x" * 65_537), "the string is over 65536 bytes"),
        (("POST", "/v2/topup", "-d", "-", "--string", "-"), "stdin can be read once"),
        (("-", "--string", "-"), "stdin can be read once"),
        (("POST", "/v2/topup", "-d", "@/nowhere"), "the body '/nowhere' cannot be read: No such file"),
        ((*CURL, "http://h/v2/topup"), "two URLs, 'http://h/v2/balance' and 'http://h/v2/topup': give one request"),
        ((*CURL, "-H", "@headers"), "--header '@headers' of the command is not read, since it is a file"),
        ((*CURL, "-K", "more"), "--config of the command is not read, since it is a file of options"),
        ((*CURL, "--next"), "--next of the command is not read, since it begins a second request"),
        ((*CURL, "-H", "nothing"), "the header 'nothing' has no colon"),
        ((*CURL, "-d", "@-"), "the command reads its body from stdin"),
        ((*CURL, "--data-urlencode", "a@/nowhere"), "the body '/nowhere' cannot be read"),
        ((*CURL, "-d"), "-d of the command has no value"),
        (("--", "curl"), "the command has no URL"),
    ],
)
def test_a_wrong_use_is_refused_with_a_sentence(words: tuple[str, ...], said: str) -> None:
    made = run(*words)
    assert made.exit_code == 2
    assert said in made.stderr
    assert made.stderr.startswith("cli explain: ")


def test_a_string_from_stdin_is_bounded() -> None:
    made = run("GET", "/v2/balance", "--string", "-", stdin=b"x" * 65_537)
    assert "what stdin has is over 65536 bytes" in made.stderr


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
    made = run("--at", str(NOW), *words[:1], *words[1:]) if words[0] != "--" else run("--at", str(NOW), *words)
    assert made.exit_code == 1
    assert "\x1b" not in made.stdout
    assert ": " in made.stdout.splitlines()[1]


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (f"X-Nonce: {NONCE}", "invalid_nonce_format: the nonce has ','; only"),
        (f"X-Timestamp: {NOW}", "digits only"),
        ("X-Signature: v1=AAAA", "what follows v1= is not Base64"),
        (f"X-Api-Key: {KEY}", f"X-Api-Key was sent more than once, or with a comma: {KEY}, {KEY}; send one key"),
    ],
)
def test_a_header_that_was_sent_twice_is_named(header: str, said: str) -> None:
    made = run("GET", "/v2/balance", "--at", str(NOW), *SENT, "-H", header)
    assert made.exit_code == 1
    assert said in made.stdout
    assert "sent more than once" in made.stdout


def test_a_long_command_of_many_pieces_is_read_in_one_pass() -> None:
    made = run("-", stdin="curl http://h/v2/topup -d " + "a'b'" * 500_000)
    assert made.exit_code == 1
    assert "missing_api_key" in made.stdout


def test_a_query_of_options_and_a_url_without_scheme_are_read_as_curl_does(tmp_path: Path) -> None:
    (file := tmp_path / "value").write_text("x y")
    for words in (("--url-query", "b=c d", "--url-query", f"e@{file}"), ("-Gdb=c+d", "--data-urlencode", f"e@{file}")):
        made = run("--", "curl", "h:8080/s/one/v2/catalog?a=1", *words)
        assert made.stdout.splitlines()[0] == "GET http://h:8080/s/one/v2/catalog?a=1&b=c+d&e=x+y"


def test_an_unknown_key_without_a_simulator_asks_for_its_secret() -> None:
    sent = [word.replace(KEY, "theirs") for word in SENT]
    made = run("GET", "/v2/balance", "--at", str(NOW), *sent, "--url", "http://127.0.0.1:9")
    assert made.exit_code == 3
    assert "; or give the secret of theirs with --secret" in made.stderr


def test_a_signature_of_wrong_form_has_a_fix_of_its_own() -> None:
    made = run("GET", "/v2/balance", "--at", str(NOW), *SENT, "-H", "X-Signature: v1=BBBB")
    assert "fix: send v1= and the 44 characters" in made.stdout
