"""A pasted curl command is read as bash and curl send it: a table of what they send, and both are asked again."""

import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.control.curl import NotCurl, read_command, words_of
from tests.support.curl_listener import IS_CURL_HERE, Listener, Sent, listening
from tests.support.tiers import examples

needs_curl = pytest.mark.skipif(not IS_CURL_HERE, reason="no curl or no bash on this machine")
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on this machine")
FILE = b"a b\r\n\0c%\xff"
LINES = b"\r\na b\r\nc%\xff\n\nd\n"
OF_CURL = ("host:", "user-agent:", "accept", "content-type:", "content-length:", "expect:")
"""Headers that curl may add by itself; no command of these tests gives them."""


@pytest.fixture(scope="module")
def listener(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listener]:
    (folder := tmp_path_factory.mktemp("curl")).joinpath("file").write_bytes(FILE)
    folder.joinpath("lines").write_bytes(LINES)
    with listening(folder) as one:
        yield one


def read(command: str) -> Sent:
    """The request that we read in a command."""
    made = read_command(command, {"file": FILE, "lines": LINES}.__getitem__)
    path, mark, query = made.target.partition("#")[0].partition("?")
    target = (path if path.startswith("/") else urlsplit(path).path) + mark + query
    raw = [one.encode("utf-8", "surrogateescape") for one in (made.method, target, *made.headers)]
    return Sent(raw[0], raw[1], raw[2:], made.body)


def really_sent(listener: Listener, command: str) -> Sent | None:
    """The same as curl sends it, without the headers of its own."""
    sent = listener.run(command)
    if sent is None:
        return None
    return sent._replace(headers=[one for one in sent.headers if not one.decode("latin-1").lower().startswith(OF_CURL)])


U = "http://127.0.0.1:PORT"
BODIES = [
    ("--data-urlencode 'a=b c+~*é'", b"a=b+c%2B~%2A%C3%A9"),
    ("--data-urlencode '=a&b'", b"a%26b"),
    ("-d @lines", b"a bc%\xffd"),
    ("--data-ascii @lines", b"a bc%\xffd"),
    ("--data-binary @file", FILE),
    ("--json @file", FILE),
    ("--data-raw @file", b"@file"),
    ("-d '' -d a", b"&a"),
    ("-d a --json b -d c --json d", b"ab&cd"),
    ("--json a --json b", b"ab"),
    (r"-d $'a\r\nb'", b"a\r\nb"),
    (r"""-d $'\ud800'""", b"\xed\xa0\x80"),
    (r"""-d $'\ud83d\ude00'""", b"\xed\xa0\xbd\xed\xb8\x80"),
    ("-d a\\\nb", b"ab"),
]
TARGETS = [
    ("'/t?b=2&a=1'", b"/t?b=2&a=1"),
    ("/t?a#b", b"/t?a"),
    ("'/t?'", b"/t?"),
    ("//a/%2e%2e/.../..b", b"//a/%2e%2e/.../..b"),
    ("/a/../b --path-as-is", b"/a/../b"),
    ("'/{a}[1-3]\\{' -g", b"/{a}[1-3]\\{"),
    ("/a --request-target '/b/../{c}?d e'", b"/b/../{c}?d e"),
    ("/~", b"/~"),
]
HEADERS = [
    ("-H 'X:'", []),
    ("-H 'X: '", []),
    ("-H 'X;'", [b"X:"]),
    ("-H 'X: a' -H 'X:'", [b"X: a"]),
    ("-H 'X: a;' -H X:b", [b"X: a;", b"X:b"]),
]


@pytest.mark.parametrize(("words", "body"), BODIES)
def test_a_body_matches_curl(words: str, body: bytes) -> None:
    assert read(f"curl {U}/t {words}") == (b"POST", b"/t", [], body)


@pytest.mark.parametrize("option", ["-d", "--data", "--data-ascii"])
def test_line_ends_and_nuls_of_a_file_of_text_are_left_out(option: str) -> None:
    assert read_command(f"curl http://h/ {option} @x", lambda _: b"a\rb\0c\nd\r\n").body == b"abcd"


@pytest.mark.parametrize(("words", "target"), TARGETS)
def test_a_target_matches_curl(words: str, target: bytes) -> None:
    assert read(f"curl {U}{words}") == (b"GET", target, [], b"")


@pytest.mark.parametrize(("words", "headers"), HEADERS)
def test_headers_match_curl(words: str, headers: list[bytes]) -> None:
    assert read(f"curl {U}/ {words}").headers == headers


@needs_curl
@pytest.mark.parametrize(
    "words",
    [*(f"/t {words}" for words, _ in BODIES), *(words for words, _ in TARGETS), *(f"/ {w}" for w, _ in HEADERS)],
)
def test_curl_sends_the_requests_of_the_table(listener: Listener, words: str) -> None:
    assert really_sent(listener, f"curl {U}{words}") == read(f"curl {U}{words}")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("ftp://h/", "the URL 'ftp://h/' is not an HTTP URL"),
        ("http://h/ http://h/", "the command has 2 URLs: give one request"),
        ("", "the command has no URLs"),
        ("http://h/ -H 'X'", "the header 'X' is not read: give each header as 'NAME: VALUE'"),
        ("http://h/ -H ': x'", "the header ': x' is not read"),
        ("http://h/ -H @file", "the header '@file' is not read"),
        ("http://h/ -u user:pass", "--user of the command is not read"),
        ("http://h/ --oauth2-bearer T", "--oauth2-bearer of the command is not read"),
        ("http://h/ -G -d a", "--get of the command is not read"),
        ("http://h/ -n", "--netrc of the command is not read"),
        ("http://h/ --data-urlencode a@b", "--data-urlencode 'a@b' is not read: write it as NAME=VALUE"),
        ("http://h/ -d @-", "the command reads its body from stdin"),
        ("http://h/ -X", "-X of the command has no value"),
    ],
)
def test_a_command_that_is_not_one_http_request_is_refused(words: str, said: str) -> None:
    with pytest.raises(NotCurl) as refused:
        read(f"curl {words}")
    assert said in str(refused.value)


WORDS = [
    (r"$'\udfffx' $'\uD7FF\uE000'", [b"\xed\xbf\xbfx", b"\xed\x9f\xbf\xee\x80\x80"]),
    (r"$'\xc3\xa9\303\251\351'", [b"\xc3\xa9\xc3\xa9\xe9"]),
    ("a\\\nb 'a'\\\n-b a\\\n\\\n c a\\\n#b", [b"ab", b"a-b", b"a", b"c", b"a#b"]),
    (r"$'\r\n\t\v\f\a\b\e\E\?\"\'\\\q\xg\ug\Ug'", [b"\r\n\t\v\f\a\b\x1b\x1b?\"'\\\\q\\xg\\ug\\Ug"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), WORDS)
def test_words_match_bash(text: str, words: list[bytes]) -> None:
    assert [one.encode("utf-8", "surrogateescape") for one in words_of(text)] == words


@needs_bash
@pytest.mark.parametrize(("text", "words"), WORDS)
def test_bash_splits_the_words_of_the_table(text: str, words: list[bytes]) -> None:
    script = f"printf '%s\\0' {text}".encode()
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})
    assert done.stdout.split(b"\0")[:-1] == words


TEXTS = st.text(st.sampled_from("""ab /0.+%C3&=?-'"\\;|<>#@^$!~*\n\r\t\x7f{}[]:,`()éé✓\U0001f600"""), max_size=10)


def as_browsers_quote(text: str) -> str:
    """A word as browsers copy it, and `printf %q` of bash writes it."""
    escaped = "".join(one if one.isalnum() and one.isascii() else _escaped(one) for one in text)
    return f"$'{escaped}'"


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 and code % 2 else "".join(f"\\{byte:03o}" for byte in character.encode())


def in_double_quotes(text: str) -> str:
    return '"' + "".join(f"\\{one}" if one in '"\\$`' else one for one in text) + '"'


QUOTES = st.sampled_from([shlex.quote, as_browsers_quote, in_double_quotes])


@settings(max_examples=examples(50), deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=4), quote=QUOTES)
def test_no_body_is_refused_however_it_is_quoted(texts: list[str], quote: Callable[[str], str]) -> None:
    command = " ".join(["curl", f"{U}/t", *(word for one in texts for word in ("--data-raw", quote(one)))])
    assert read(command).body == "&".join(texts).encode()


@pytest.mark.parametrize("other", ["printf %b 'a'", "echo 'a'", "printf %b 'a' |"])
def test_a_body_that_is_piped_into_a_command_is_not_read(other: str) -> None:
    with pytest.raises(NotCurl, match=r"does not begin with curl"):
        read(f"{other} | curl {U}/t --data-binary @-")


@pytest.mark.parametrize("run", ["1" * 800_000, "a" * 800_000, "," * 400_000 + "}" * 400_000])
def test_a_long_run_of_plain_text_is_one_word(run: str) -> None:
    assert words_of(f"curl {run}") == ["curl", run]
