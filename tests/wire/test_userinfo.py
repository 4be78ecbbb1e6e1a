"""The userinfo of addresses is hidden in any text, however the signs of the address are written."""

import pytest

from simulator.wire.userinfo import HIDDEN, without_userinfo

SHOWN = f"https://{HIDDEN}@host/hook"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://user:secret@host/hook", SHOWN),
        ("https://user@host/hook", SHOWN),
        ("https://user:s@cret@host/hook", SHOWN),
        ("https://user:s%40cret@host/hook", SHOWN),
        ("https://user:s/cr?t#@host/hook", SHOWN),
        ("ftp://user:secret@host", f"ftp://{HIDDEN}@host"),
        ("//user:secret@host", f"//{HIDDEN}@host"),
        ("the URL 'https://user:a secret@host/hook' is refused", f"the URL '{SHOWN}' is refused"),
        ('{"url":"https://user:a secret@host/hook"}', f'{{"url":"{SHOWN}"}}'),
        ('{"url":"https://user:\\"secret@host/hook"}', f'{{"url":"{SHOWN}"}}'),
        ('{"url":"https:\\/\\/user:secret@host\\/hook"}', f'{{"url":"https:\\/\\/{HIDDEN}@host\\/hook"}}'),
        ('"https:\\u002f\\u002fuser\\u003asecret\\u0040host"', f'"https:\\u002f\\u002f{HIDDEN}\\u0040host"'),
        ("url=https%3A%2F%2Fuser%3Asecret%40host%2Fa", f"url=https%3A%2F%2F{HIDDEN}%40host%2Fa"),
        ("url=https%253a%252f%252fuser%253asecret%2540host", f"url=https%253a%252f%252f{HIDDEN}%2540host"),
        ("url=https://user:secret%40host", f"url=https://{HIDDEN}%40host"),
        (SHOWN, SHOWN),
        ("https://a:b@c and https://d:e@f", f"https://{HIDDEN}@c and https://{HIDDEN}@f"),
    ],
)  # fmt: skip
def test_userinfo_is_hidden(text: str, shown: str) -> None:
    assert without_userinfo(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "", "a@b.example", "https://host/a@b?c=d@e", "http://127.0.0.1:80/a@b", "http://[::1]:80/a@b",
        "look at http://host:8080, or ask a@b.example", "url=http%3A%2F%2Fhost%2Fa%40b", '"inbox:a" for a@b.example',
        "https://@host/", "%2F%2F", "http://host:80/\nuser:secret@host",
    ],
)  # fmt: skip
def test_what_is_no_userinfo_stays(text: str) -> None:
    assert without_userinfo(text) == text


def test_the_parameter_behind_an_address_in_a_query_stays() -> None:
    assert without_userinfo("url=http://host&email=a@b", is_query=True) == "url=http://host&email=a@b"
    assert without_userinfo("url=http://u:p@host&email=a@b", is_query=True) == f"url=http://{HIDDEN}@host&email=a@b"


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["//a:b", "http://a:b", '"//a', "%2F%2Fa%3Ab", "//", "http%3A", "%252525", "\\\\", "'//", '"https:']
)
def test_a_long_text_is_read_in_one_pass(piece: str) -> None:
    """Were each address looked for to the end of the text, this would take minutes."""
    without_userinfo(piece * 60_000 + "@", is_query=True)
    assert without_userinfo(piece * 60_000 + "\n//a@").endswith(f"\n//{HIDDEN}@")
