"""Commands that people paste into `reseller-sim explain`: as a shell reads them, bounded, and refused with a reason."""

import os
import shlex
import subprocess
from base64 import b64decode
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from simulator.cli.main import cli
from simulator.cli.request import defaultcredentials
from simulator.wire.pasted_curl import NotCurl, read_curl, words_of
from simulator.wire.shell_words import shell_words
from tests.support.mistaken_clients import NONCE, NOW, POST, Request, Signer

CREDENTIALS = defaultcredentials()
HEADERS = (f"X-Api-Key: {CREDENTIALS.key}", f"X-Timestamp: {NOW}", f"X-Nonce: {NONCE}")
BODIES = [
    r"""$'{"note":"it\'s","amount":10}'""",
    r"""$'{"note":"a\\b\n\t\r\u00e9\x41\101\e"}'""",
    r"""$'{"note":"\u0021\U0001f600\?\""}'""",
    """'{"note":"a"'$'\\n''}'""",
    '''"{\\"note\\":\\"\\$5 \\\\ 'x'\\"}"''',
]


def run(*words: str, stdin: str | bytes | None = None) -> Result:
    """What the verb prints, and its exit code."""
    return CliRunner().invoke(cli, ["explain", "--at", str(NOW), *words], input=stdin)


def signed(body: bytes) -> list[str]:
    """The headers of a right payment as flags of curl."""
    signature = Signer(key=lambda: b64decode(CREDENTIALS.secret)).sign(Request(query="", body=body))
    return [word for one in (*HEADERS, f"X-Signature: {signature}") for word in ("-H", one)]


@pytest.mark.parametrize("spelt", BODIES)
def test_a_word_is_read_as_bash_reads_it(spelt: str) -> None:
    printed = subprocess.run(["bash", "-c", f"printf %s {spelt}"], capture_output=True, check=True).stdout
    assert [os.fsencode(one) for one in shell_words(spelt)] == [printed]


@pytest.mark.parametrize("prompt", ["", "$ ", "  $ "])
@pytest.mark.parametrize("spelt", BODIES[:1])
def test_a_command_copied_from_a_browser_is_right(spelt: str, prompt: str) -> None:
    body = os.fsencode(shell_words(spelt)[0])
    text = f"{prompt}curl 'http://h/v2/topup' \\\n  {shlex.join(signed(body))} \\\n  --data-raw {spelt}\n"
    said = run("-", stdin=text)
    assert (said.exit_code, said.stdout.splitlines()[-1]) == (0, "the signature is right"), said.output


@pytest.mark.parametrize("text", ["curl 'open", 'curl "open', "curl $'open", "curl end\\"])
def test_an_open_quote_is_refused(text: str) -> None:
    with pytest.raises(NotCurl, match="the command cannot be read: "):
        words_of(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('curl ^"http://h/v2/topup^" ^\r\n  -H ^"X-Api-Key: a^"', "cmd"),
        ('curl "http://h/v2/topup" ^\n  -H "X-Api-Key: a"', "cmd"),
        ("curl -F file=@x http://h/v2/topup", "--form"),
        ("curl --form-string a=b http://h/v2/topup", "--form-string"),
        ("curl --form=a=b http://h/v2/topup", "--form"),
        ("curl -T x http://h/v2/topup", "--upload-file"),
        ("wget http://h/v2/topup", "does not begin with curl"),
        ("", "does not begin with curl"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_sentence(text: str, said: str) -> None:
    made = run("-", stdin=text)
    assert made.exit_code == 2
    assert said in made.stderr


@pytest.mark.parametrize("words", [("wget", "http://h/v2/topup"), ("http", "/v2/topup"), ("GET", "balance")])
def test_another_command_is_no_request(words: tuple[str, ...]) -> None:
    made = run("--", *words)
    assert made.exit_code == 2
    assert "METHOD and PATH" in made.stderr


def test_an_option_of_curl_with_equals_has_its_value() -> None:
    assert read_curl(words_of("curl --request=PUT --url=http://h/v2/x")).method == "PUT"


@pytest.mark.parametrize("words", [("get", "/v2/balance"), ("curl", "-X", "get", "http://h/v2/balance")])
def test_a_method_in_lower_case_is_signed_in_capitals_and_said(words: tuple[str, ...]) -> None:
    request = Request("GET", "/v2/balance", "", b"")
    key = lambda: b64decode(CREDENTIALS.secret)  # noqa: E731  # a step of a signer
    for signer, exit_code in ((Signer(key=key), 0), (Signer(key=key, method=str.lower), 1)):
        headers = [w for one in (*HEADERS, f"X-Signature: {signer.sign(request)}") for w in ("-H", one)]
        made = run(*headers, *words) if words[0] == "get" else run("--", *words, *headers)
        assert made.exit_code == exit_code
        assert "the method get is taken as GET" in made.stdout
        assert ("the method is in lower case" in made.stdout) == bool(exit_code)


def test_a_number_is_of_ascii_digits() -> None:
    made = run("²")
    assert made.exit_code == 2
    assert "METHOD and PATH" in made.stderr


def test_what_is_read_is_bounded(tmp_path: Path) -> None:
    os.mkfifo(fifo := tmp_path / "fifo")
    for path in ("/dev/zero", str(fifo), str(tmp_path)):
        for words in (("POST", "/v2/topup", "-d", f"@{path}"), ("--", "curl", "-d", f"@{path}", "http://h/v2/topup")):
            made = run(*words)
            assert made.exit_code == 2
            assert "is no regular file" in made.stderr
    big = tmp_path / "big"
    big.write_bytes(b" " * (10 * 1024 * 1024 + 1))
    for words in (("POST", "/v2/topup", "-d", f"@{big}"), ("--", "curl", "-d", f"@{big}", "http://h/v2/topup")):
        assert "is over 10 MB" in run(*words).stderr
    assert "is over 10 MB" in run("-", stdin=big.read_bytes()).stderr
    assert "is over 10 MB" in run("POST", "/v2/topup", "-d", "-", stdin=big.read_bytes()).stderr
    assert run("POST", "/v2/topup", "-d", "-", stdin=POST.body).exit_code == 1


@pytest.mark.parametrize(
    ("tail", "kept"),
    [
        ("| jq .", []),
        ("&& echo done", []),
        ("; echo done", []),
        ("2>/dev/null -H 'A: 1'", ["-H", "A: 1"]),
        ("> 'out file' -H 'A: 1' 2>&1 | tee log", ["-H", "A: 1"]),
        ("-d '|' -H '> x'", ["-d", "|", "-H", "> x"]),
    ],
)
def test_what_follows_a_command_is_no_part_of_it(tail: str, kept: list[str]) -> None:
    assert words_of(f"curl http://a/v2/balance?a=1&b=2 {tail}") == ["curl", "http://a/v2/balance?a=1&b=2", *kept]


def test_a_semicolon_at_its_url_ends_a_command() -> None:
    assert words_of("curl http://a/v2/balance; echo $?") == ["curl", "http://a/v2/balance"]
