"""Commands that people paste into `reseller-sim explain`: as a shell reads them, bounded, and refused with a reason."""

import os
import shlex
import subprocess
from base64 import b64decode
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from simulator.cli.call import default_credentials
from simulator.cli.main import cli
from simulator.control.curl import read_command, words_of
from tests.support.mistaken_clients import NONCE, NOW, POST, Request, Signer

CREDENTIALS = default_credentials()
HEADERS = (f"X-Api-Key: {CREDENTIALS.key}", f"X-Timestamp: {NOW}", f"X-Nonce: {NONCE}")
BODIES = [
    r"""$'{"note":"it\'s","amount":10}'""",
    r"""$'{"note":"a\\b\n\t\r\u00e9\x41\101\e"}'""",
    r"""$'{"note":"\u0021\?\""}'""",
    """'{"note":"a"'$'\\n''}'""",
    '''"{\\"note\\":\\"\\$5 \\\\ 'x'\\"}"''',
]


def run(*words: str, stdin: str | bytes | None = None) -> Result:
    """Return the output of the verb and its exit code."""
    return CliRunner().invoke(cli, ["explain", "--at", str(NOW), *words], input=stdin)


def signed(body: bytes) -> list[str]:
    """The headers of a right payment as flags of curl."""
    signature = Signer(key=lambda: b64decode(CREDENTIALS.secret)).sign(Request(query="", body=body))
    return [word for one in (*HEADERS, f"X-Signature: {signature}") for word in ("-H", one)]


@pytest.mark.parametrize("spelt", BODIES)
def test_a_word_is_read_as_bash_reads_it(spelt: str) -> None:
    printed = subprocess.run(["bash", "-c", f"printf %s {spelt}"], capture_output=True, check=True).stdout
    assert [os.fsencode(one) for one in words_of(spelt)] == [printed]


@pytest.mark.parametrize("prompt", ["", "$ ", "  $ "])
@pytest.mark.parametrize("spelt", BODIES[:1])
def test_a_command_copied_from_a_browser_is_right(spelt: str, prompt: str) -> None:
    body = os.fsencode(words_of(spelt)[0])
    text = f"{prompt}curl 'http://h/v2/topup' \\\n  {shlex.join(signed(body))} \\\n  --data-raw {spelt}\n"
    said = run("-", stdin=text)
    assert (said.exit_code, said.stdout.splitlines()[-1]) == (0, "the signature is right"), said.output


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('curl ^"http://h/v2/topup^" ^\r\n  -H ^"X-Api-Key: a^"', "cmd"),
        ('curl "http://h/v2/topup" ^\n  -H "X-Api-Key: a"', "cmd"),
        ("curl -F file=@x http://h/v2/topup", "--form"),
        ("curl --form-string a=b http://h/v2/topup", "--form-string"),
        ("curl -T x http://h/v2/topup", "--upload-file"),
        ("wget http://h/v2/topup", "does not begin with curl"),
        ("TOKEN=x curl http://h/", "does not begin with curl, but with 'TOKEN=x': give it from curl on"),
        ('curl http://h/ -d "$BODY"', "cannot be read from '\"$BODY\"' on"),
        ("curl $URL/v2/balance", "cannot be read from '$URL/v2/balance' on"),
        ("curl http://h/x < file", "cannot be read from '< file' on"),
        ("curl http://h/x?a=1&b=2", "cannot be read from '&b=2' on: close quotes, put addresses and values in quotes"),
        ("curl 'http://h/x", 'cannot be read from "\'http://h/x" on: close quotes'),
    ],
)
def test_an_unreadable_command_is_refused_with_a_sentence(text: str, said: str) -> None:
    made = run("-", stdin=text)
    assert made.exit_code == 2
    assert said in made.stderr


@pytest.mark.parametrize("words", [("wget", "http://h/v2/topup"), ("http", "/v2/topup"), ("GET", "balance")])
def test_another_command_is_no_request(words: tuple[str, ...]) -> None:
    made = run("--", *words)
    assert made.exit_code == 2
    assert "METHOD and PATH" in made.stderr


def test_a_long_option_of_curl_has_its_value() -> None:
    assert read_command("curl --request PUT --url http://h/v2/x").method == "PUT"


@pytest.mark.parametrize("words", [("get", "/v2/balance"), ("curl", "-X", "get", "http://h/v2/balance")])
def test_a_method_in_lower_case_is_signed_in_capitals(words: tuple[str, ...]) -> None:
    request = Request("GET", "/v2/balance", "", b"")
    key = lambda: b64decode(CREDENTIALS.secret)  # noqa: E731  # a step of a signer
    for signer, exit_code in ((Signer(key=key), 0), (Signer(key=key, method=str.lower), 1)):
        headers = [w for one in (*HEADERS, f"X-Signature: {signer.sign(request)}") for w in ("-H", one)]
        made = run(*headers, *words) if words[0] == "get" else run("--", *words, *headers)
        assert made.exit_code == exit_code
        assert ("the method is in lower case" in made.stdout) == bool(exit_code)


def test_a_number_is_of_ascii_digits() -> None:
    made = run("²")
    assert made.exit_code == 2
    assert "METHOD and PATH" in made.stderr


def test_the_input_is_bounded(tmp_path: Path) -> None:
    os.mkfifo(fifo := tmp_path / "fifo")
    for path in ("/dev/zero", str(fifo), str(tmp_path)):
        for words in (("POST", "/v2/topup", "-d", f"@{path}"), ("--", "curl", "-d", f"@{path}", "http://h/v2/topup")):
            made = run(*words)
            assert made.exit_code == 2
            assert "is not a regular file" in made.stderr
    big = tmp_path / "big"
    big.write_bytes(b" " * (10 * 1024 * 1024 + 1))
    for words in (("POST", "/v2/topup", "-d", f"@{big}"), ("--", "curl", "-d", f"@{big}", "http://h/v2/topup")):
        assert "has more than 10485760 bytes" in run(*words).stderr
    assert "has more than 10485760 bytes" in run("-", stdin=big.read_bytes()).stderr
    assert "has more than 10485760 bytes" in run("POST", "/v2/topup", "-d", "-", stdin=big.read_bytes()).stderr
    assert run("POST", "/v2/topup", "-d", "-", stdin=POST.body).exit_code == 1


COMMAND = "curl http://h/v2/x -H 'a: b;|&>'"
TAILS = [" ;", " | jq .", " && echo ok", " || exit 1", " &", " ;\ncurl 'http://h/v2/other'", " # a comment"]


@pytest.mark.parametrize("tail", TAILS)
def test_text_after_the_command_is_ignored(tail: str) -> None:
    alone = read_command(COMMAND)
    assert (alone.target, alone.headers) == ("http://h/v2/x", ("a: b;|&>",))
    assert read_command(COMMAND + tail) == alone


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "curl -d \\; -d ';' -d \"|\" -d $'&' -d a\\&b",
            ["curl", "-d", ";", "-d", ";", "-d", "|", "-d", "&", "-d", "a&b"],
        ),
        ("curl -d a'|'b http://h/x#y", ["curl", "-d", "a|b", "http://h/x#y"]),
        ("curl -d \\# -d '#' -d a#b", ["curl", "-d", "#", "-d", "#", "-d", "a#b"]),
        ("curl -d a^b -H 'a: ^\"'", ["curl", "-d", "a^b", "-H", 'a: ^"']),
        ("curl http://h/x\n  -H a:b\n\n  -d c", ["curl", "http://h/x", "-H", "a:b", "-d", "c"]),
    ],
)
def test_operators_match_the_shell(text: str, words: list[str]) -> None:
    assert words_of(text) == words


@pytest.mark.parametrize("prompt", ["$ ", "% ", "# ", "> "])
def test_a_prompt_is_no_word(prompt: str) -> None:
    assert read_command(f"{prompt}curl http://h/x").target == "http://h/x"


TEXTS = st.text(st.sampled_from("""ab 0-'"\\;|&<>#^$\n\r\t?=é{}"""), max_size=12)


@given(values=st.lists(TEXTS, max_size=4), tail=st.sampled_from(TAILS))
def test_a_command_that_shlex_reads_alone_is_read_the_same_with_a_tail(values: list[str], tail: str) -> None:
    command = shlex.join(["curl", "http://h/v2/x", *(word for one in values for word in ("-d", one))])
    assert words_of(command) == shlex.split(command)
    assert words_of(command + tail) == shlex.split(command)


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["\n", " ", "^ a ", "a ", "'a'", "\\\n", "a#", "\n "])
def test_a_long_command_is_read_in_time_in_proportion_to_its_length(piece: str) -> None:
    assert words_of("curl " + piece * 500_000 + "\n -x")[0] == "curl"  # in the square of it, this took an hour


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("# what was sent\n#!/bin/sh\ncurl http://h/ -d '{}'", "{}"),
        ("""curl http://h/ -d "costs \\$5" """, "costs $5"),
        ("""curl http://h/ -d '$BODY `x`'""", "$BODY `x`"),
    ],
)
def test_literal_words_of_the_shell_are_read(text: str, body: str) -> None:
    assert read_command(text).body == body.encode()
