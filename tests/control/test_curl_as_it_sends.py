"""A pasted curl command is read as bash 5.2 and curl 7.88 send it: a recorded table, and both programs themselves."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.control.curl import read_curl
from simulator.control.shell_words import NotCurl, stdin_of, words_of
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
    stdin, rest = stdin_of(command)
    made = read_curl(words_of(rest), {"file": FILE, "lines": LINES}.__getitem__, stdin)
    path, mark, query = made.target.partition("?")
    target = (path if path.startswith("/") else urlsplit(path).path) + mark + query
    raw = [one.encode("utf-8", "surrogateescape") for one in (made.method, target, *made.headers)]
    return Sent(raw[0], raw[1], raw[2:], made.body)


def really_sent(listener: Listener, command: str) -> Sent | None:
    """Return the request as curl sends it, without its own headers."""
    sent = listener.run(command)
    if sent is None:
        return None
    return sent._replace(headers=[one for one in sent.headers if not one.decode("latin-1").lower().startswith(OF_CURL)])


U = "http://127.0.0.1:PORT"
BODIES = [
    ("--data-urlencode 'a=b c+~*é'", b"a=b+c%2B~%2A%C3%A9"),
    ("--data-urlencode 'a@b=c/d'", b"a@b=c%2Fd"),
    ("--data-urlencode '=a&b'", b"a%26b"),
    ("--data-urlencode '@file'", b"a+b%0D%0A%00c%25%FF"),
    ("--data-urlencode 'é x@file'", "é x=a+b%0D%0A%00c%25%FF".encode("latin-1").replace(b"\xe9", b"\xc3\xa9")),
    ("--data-urlencode a/b", b"a%2Fb"),
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
    (r"""-d $'a\0b'c""", b"ac"),
    (r"""-d $'a\u0000b\'c'""", b"a"),
    ("-d a\\\nb", b"ab"),
]
TARGETS = [
    ("/t --url-query 'a=b c'", b"/t?a=b+c"),
    ("/t --url-query +a=b+c", b"/t?a=b+c"),
    ("/t? --url-query 'a=b c'", b"/t?a=b+c"),
    ("'/t?a&' --url-query b", b"/t?a&b"),
    ("'/t?a&' -G -d b", b"/t?a&b"),
    ("/t?a#b -G -d c", b"/t?a&c"),
    ("/t?a -G -d ''", b"/t?a&"),
    ("/t -G -d ''", b"/t"),
    ("'/t?' -G -d ''", b"/t"),
    ("'/t?' -G", b"/t?"),
    ("'/t?a' -G -d '&b'", b"/t?a&&b"),
    ("'/t?a' -G -d x --url-query b", b"/t?a&x"),
    ("/t -G --data-raw 'a#b'", b"/t?a"),
    ("/t?a=%C3 -G -d %C3%zA --data-urlencode +", b"/t?a=%C3&%c3%zA&%2b"),
    ("//a/%2e%2e/.../..b", b"//a/%2e%2e/.../..b"),
    ("'/a?/../b'", b"/a?/../b"),
    ("/a/../b --path-as-is", b"/a/../b"),
    ("'?a'", b"/?a"),
    ("'/é?é'", b"/%c3%a9?\xc3\xa9"),
    ("'/{a}[1-3]\\{' -g", b"/{a}[1-3]\\{"),
    ("/a --request-target '/b/../{c}?d e'", b"/b/../{c}?d e"),
    ("/a --request-target '/b#c?d'", b"/b#c?d"),
    ("/~", b"/~"),
]
HEADERS = [
    ("-H 'X:'", []),
    ("-H 'X: '", []),
    ("-H 'X;'", [b"X:"]),
    ("-H 'X: a' -H 'X:'", [b"X: a"]),
    ("-H 'X: a;' -H X:b", [b"X: a;", b"X:b"]),
    ("-u user:pass", [b"Authorization: Basic dXNlcjpwYXNz"]),
    ("--user 'a:b:c é'", [b"Authorization: Basic YTpiOmMgw6k="]),
    ("-u a:b -uc: -H 'X: a'", [b"Authorization: Basic Yzo=", b"X: a"]),
    ("--oauth2-bearer 'é x'", [b"Authorization: Bearer \xc3\xa9 x"]),
    ("-u a --oauth2-bearer T", [b"Authorization: Bearer T"]),
    ("-u a:b --basic --no-digest", [b"Authorization: Basic YTpi"]),
    ("-u a:b -H 'authorization: X'", [b"authorization: X"]),
    ("-u a:b -H 'Authorization:'", []),
    ("--oauth2-bearer T -H 'Authorization;'", [b"Authorization:"]),
    ("-H \"$(printf %b 'X: \\0303\\0251 $(a)\\0377\\0000b\\0012')\"", [b"X: \xc3\xa9 $(a)\xffb"]),
]


USERINFO = [
    ("http://us%40er:p%20%ff%zz@HOST/a", b"/a", [b"Authorization: Basic dXNAZXI6cCD/JXp6"]),
    ("http://user@HOST", b"/", [b"Authorization: Basic dXNlcjo="]),
    ("http://:pw@HOST/?a@b", b"/?a@b", [b"Authorization: Basic OnB3"]),
    ("http://@HOST/a@b", b"/a@b", [b"Authorization: Basic Og=="]),
    ("http://c:d@HOST/ -u a:b", b"/", [b"Authorization: Basic YTpi"]),
    ("http://c:d@HOST/ --oauth2-bearer T", b"/", [b"Authorization: Bearer T"]),
    ("http://c:d@HOST/ -H 'Authorization: X'", b"/", [b"Authorization: X"]),
]


@pytest.mark.parametrize(("words", "target", "headers"), USERINFO)
def test_userinfo_is_a_header_of_curl(words: str, target: bytes, headers: list[bytes]) -> None:
    command = f"curl {words.replace('HOST', '127.0.0.1:PORT')}"
    assert read(command) == (b"GET", target, headers, b"")
    assert "@127" not in read_curl(words_of(command)).target


@needs_curl
@pytest.mark.parametrize(("words", "target", "headers"), USERINFO)
def test_curl_sends_userinfo_as_the_table_has_it(
    listener: Listener, words: str, target: bytes, headers: list[bytes]
) -> None:
    command = f"curl {words.replace('HOST', '127.0.0.1:PORT')}"
    assert really_sent(listener, command) == (b"GET", target, headers, b"")


@pytest.mark.parametrize(("words", "body"), BODIES)
def test_a_body_matches_curl(words: str, body: bytes) -> None:
    assert read(f"curl {U}/t {words}") == (b"POST", b"/t", [], body)


@pytest.mark.parametrize("option", ["-d", "--data", "--data-ascii"])
def test_line_ends_and_nuls_of_a_file_of_text_are_left_out(option: str) -> None:
    assert read_curl(["curl", "http://h/", option, "@x"], lambda _: b"a\rb\0c\nd\r\n").body == b"abcd"


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
def test_curl_sends_what_the_table_has(listener: Listener, words: str) -> None:
    assert really_sent(listener, f"curl {U}{words}") == read(f"curl {U}{words}")


@needs_curl
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("/ -I -d a", "curl refuses --head with a body"),
        ("/ --request=PUT", "curl has no option '--request=PUT': give the value of --request as the next word"),
        ("/ --data=x", "curl has no option '--data=x'"),
        ("'/a b'", "curl refuses a URL with ' '"),
        ("'/a?\x7f'", "curl refuses a URL with"),
        ("/ -G --data-urlencode ' a=b'", "curl refuses a URL with ' '"),
        ("/ --url-query '+a b'", "curl refuses a URL with ' '"),
        ("'/a?b[1]=2'", "curl takes the \\[ of"),
        ("'/a?b={}'", "curl takes the { of"),
        ("'/a}b'", "curl takes the } of"),
    ],
)
def test_commands_that_curl_refuses_are_refused_with_its_reason(listener: Listener, words: str, said: str) -> None:
    assert really_sent(listener, f"curl {U}{words}") is None
    with pytest.raises(NotCurl, match=said):
        read(f"curl {U}{words}")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("'http://h/{a}'", "curl takes the { of 'http://h/{a}' for a pattern of URLs: give --globoff, or escape it"),
        ("ftp://h/", "the URL 'ftp://h/' is not an HTTP URL"),
        ("http://h/ -H 'X'", "the header 'X' has no colon, so that curl does not send it"),
        ("http://h/ -H 'X; '", "has no colon"),
        ("http://h/ -H 'X;y'", "has no colon"),
        ("http://h/ -H ';'", "has a name that HTTP has not"),
        ("http://h/ -H ': x'", "has a name that HTTP has not"),
        ("http://h/ -H $'X: a\\nY: b'", "the value of --header has a line end: give it as one line"),
        ("http://h/ --request-target ''", "--request-target '' does not begin with /, so that no server reads it"),
        ("http://h/ --request-target b", "--request-target 'b' does not begin with /"),
        ("http://h/ -X ''", "curl sends the method '' as it stands, which no server reads"),
        ("http://h/ -X 'a b'", "curl sends the method 'a b' as it stands"),
        ("http://h/ -H 'X-Api-Key : k'", "the header 'X-Api-Key : k' has a name that HTTP has not, so that servers"),
        ("http://h/ -H ' X;'", "the header ' X;' has a name that HTTP has not"),
        ("http://h/ -H 'X Y: k'", "the header 'X Y: k' has a name that HTTP has not"),
        ("http://h/ -u user", "curl asks for the password of --user: give --user NAME:PASSWORD"),
        ("http://h/ -u a:b --digest", "--digest of the command is not read, since curl makes the credentials"),
        ("http://h/ -n", "--netrc of the command is not read, since curl makes the credentials"),
        ("http://h/ --oauth2-bearer $'T\\nX: y'", "the value of --oauth2-bearer has a line end"),
        ("http://a:b@c@h/", "curl refuses a URL with two @, or %00, before its host"),
        ("http://a%00@h/", "curl refuses a URL with two @, or %00, before its host"),
        ("http://h/a/../b", "curl sends /./ and /../ of a path otherwise: give the path that is sent"),
        ("http://h/a/. --path-as-is -G -d c", "curl sends /./ and /../ of a path otherwise"),
        ("http://h/ -d $[1+1]", "the shell replaces '$[1+1]'"),
        ("http://h/ -d @-", "the command reads its body from stdin"),
    ],
)
def test_anything_but_a_single_http_request_is_refused(words: str, said: str) -> None:
    with pytest.raises(NotCurl) as refused:
        read(f"curl {words}")
    assert said in str(refused.value)


def test_an_ipv6_address_and_a_scheme_in_capitals_are_read() -> None:
    assert read_curl(words_of("curl 'HTTP://[::1]:80?a'")).target == "http://[::1]:80/?a"
    assert read_curl(["curl", "--", "http://h/x"]).target == "http://h/x"


WORDS = [
    (r"$'a\x00b'c $'\400b'", [b"ac", b""]),
    (r"$'\udfffx' $'\uD7FF\uE000'", [b"\xed\xbf\xbfx", b"\xed\x9f\xbf\xee\x80\x80"]),
    (r"$'\u7f\u80\u7ff\u800\uffff\U10000'", [b"\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80"]),
    (r"$'\xc3\xa9\303\251\351'", [b"\xc3\xa9\xc3\xa9\xe9"]),
    ("a\\\nb 'a'\\\n-b a\\\n\\\n c a\\\n#b", [b"ab", b"a-b", b"a", b"c", b"a#b"]),
    ("a$ b$. {} a}", [b"a$", b"b$.", b"{}", b"a}"]),
    ("\xa0a a\x0bb\x0cc\x1cd\x85e a\rb", [b"\xc2\xa0a", b"a\x0bb\x0cc\x1cd\xc2\x85e", b"a\rb"]),
    ("a~ '~' \\~ http://h/~u", [b"a~", b"~", b"~", b"http://h/~u"]),
    (r"$'\r\n\t\v\f\a\b\e\E\?\"\'\\\q\xg\ug\Ug'", [b"\r\n\t\v\f\a\b\x1b\x1b?\"'\\\\q\\xg\\ug\\Ug"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), WORDS)
def test_words_match_bash(text: str, words: list[bytes]) -> None:
    assert [one.encode("utf-8", "surrogateescape") for one in words_of(text)] == words


@needs_bash
@pytest.mark.parametrize(("text", "words"), WORDS)
def test_bash_has_the_words_of_the_table(text: str, words: list[bytes]) -> None:
    script = f"printf '%s\\0' {text}".encode()
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})
    assert done.stdout.split(b"\0")[:-1] == words


TEXTS = st.text(st.sampled_from("""ab /0.+%C3&=?-'"\\;|<>#@^$!~*\n\r\t\x7f{}[]:,`()éé✓\U0001f600"""), max_size=10)
QUERIES = st.text(st.sampled_from("ab/.+%C3&=?@é:;"), max_size=10)
PATHS = st.lists(st.sampled_from(["a", "..", ".", "", "...", "é", "%C3", "b~", "\\{", "[]"]), max_size=5).map("/".join)


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
BODY = ("-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--data-ascii", "--json", "--url-query")
OPTION = st.one_of(
    st.tuples(st.sampled_from(BODY), TEXTS.filter(lambda text: "@" not in text)),
    st.tuples(st.sampled_from(BODY), QUERIES.filter(lambda text: "@" not in text)),
    st.tuples(st.sampled_from(("-d", "--data-binary", "--data-urlencode", "--json")), st.just("@lines")),
    st.tuples(st.just("-H"), TEXTS.map(lambda text: "X-A: " + text.translate({10: None, 13: None}))),
    st.tuples(st.just("-H"), st.sampled_from(["X-B:", "X-B;", "X-B: ", "X-B:b", "X-B"])),
    st.tuples(st.just("-X"), st.sampled_from(["PUT", "get", "DELETE"])),
    st.sampled_from(["-G", "-I", "-sS", "--path-as-is", "-g", "--compressed", "-Gs"]).map(lambda one: (one,)),
)
PART = st.one_of(OPTION, OPTION, OPTION.filter(lambda one: len(one) > 1))


@st.composite
def commands(draw: st.DrawFn) -> str:
    """A command of curl; each word has a random style of quoting."""
    query = draw(st.one_of(st.just(""), QUERIES.map("?{}".format), TEXTS.map("?{}".format)))
    url = U + draw(st.one_of(st.sampled_from(["", "/t"]), PATHS.map("/{}".format)))
    options = draw(st.lists(PART, max_size=5))
    at = draw(st.integers(0, len(options)))
    groups = [("curl",), *options[:at], (url + query,), *options[at:]]
    words = [word if word == "curl" else draw(QUOTES)(word) for group in groups for word in group]
    return draw(st.sampled_from([" ", " \\\n  ", "\\\n\\\n "])).join(words)


FEWER = re.compile(r"the header '.*' has no colon|curl takes the .* for a pattern|.* of a path otherwise", re.DOTALL)


@needs_curl
@settings(max_examples=examples(30), deadline=None)
@given(command=commands())
def test_any_command_is_read_as_bash_and_curl_send_it_or_refused(listener: Listener, command: str) -> None:
    sent = really_sent(listener, command)
    try:
        ours: Sent | None = read(command)
    except NotCurl as wrong:
        ours = sent if FEWER.match(str(wrong)) else None
    assert ours == sent


@settings(max_examples=examples(50), deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=4), quote=QUOTES)
def test_no_body_is_refused_however_it_is_quoted(texts: list[str], quote: Callable[[str], str]) -> None:
    command = " ".join(["curl", f"{U}/t", *(word for one in texts for word in ("--data-raw", quote(one)))])
    assert read(command).body == "&".join(texts).encode()


def test_our_own_pipe_is_read_and_no_other() -> None:
    command = f"curl {U}/t --data-binary @- -d @-"
    assert read(f"# Request 1\n$ printf %b 'a\\0000\\0377\\0012 b' | {command}").body == b"a\0\xff\n b&"
    assert read(f"printf %b '' |{command}").body == b"&"
    for other in (
        "printf %b 'a\\n'",
        "printf %b '\\0400'",
        "printf %b a",
        "printf %s 'a'",
        "echo 'a'",
        "printf %b 'a' |",
    ):
        with pytest.raises(NotCurl, match=r"does not begin with curl|is empty"):
            read(f"{other} | {command}")


@pytest.mark.parametrize("run", ["1" * 800_000, "a" * 800_000, "," * 400_000 + "}" * 400_000])
def test_a_long_run_of_plain_text_is_one_word(run: str) -> None:
    assert words_of(f"curl {run} >x") == ["curl", run]
