"""Options that `proxy` refuses; it repeats no part of a secret."""

from pathlib import Path

import pytest

from simulator.cli.proxy import _is_own
from tests.support.connections import closed_port
from tests.support.runner import invoke

UPSTREAM = ("--upstream", "http://127.0.0.1:9")

REFUSED = [
    (("--upstream", "ftp://host"), "the address is not a base URL such as"),
    (("--upstream", "http://user:hush@host"), "the address is not a base URL such as"),
    (("--upstream", "http://host/?a=hush"), "the address is not a base URL such as"),
    ((*UPSTREAM, "--callbacks-to", "host:3000"), "the address is not a base URL such as"),
    ((*UPSTREAM, "--key", "k"), "give both --key and --secret, or neither"),
    ((*UPSTREAM, "--key", "k", "--secret", "hush!"), "the secret is not Base64"),
    ((*UPSTREAM, "--timeout", "0"), "0"),
    ((*UPSTREAM, "--record", "/nowhere/at/all.yaml"), "cannot be written"),
    ((), "Missing option '--upstream'"),
]


@pytest.mark.parametrize(("flags", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_a_flag_that_cannot_be_used_is_one_line_and_exit_code_2(flags: tuple[str, ...], words: str) -> None:
    done = invoke("proxy", *flags)
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr
    assert "hush" not in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("flags", [("--upstream",), (*UPSTREAM, "--callbacks-to")])
@pytest.mark.parametrize(
    ("host", "listens"),
    [
        ("localhost", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.1"),
        ("127.0.0.2", "0.0.0.0"),
        ("[::1]", "::"),
    ],
)
def test_a_proxy_in_front_of_itself_is_refused(flags: tuple[str, ...], host: str, listens: str) -> None:
    with closed_port() as port:
        pass
    done = invoke("proxy", *flags, f"http://{host}:{port}/x", "--port", str(port), "--host", listens)
    assert done.exit_code == 3
    assert "is the proxy's own address" in done.stderr


@pytest.mark.parametrize(("host", "listens"), [("192.0.2.1", "0.0.0.0"), ("", "0.0.0.0")])
def test_an_upstream_on_another_address_is_no_loop(host: str, listens: str) -> None:
    assert not _is_own(host or "no.such.name.invalid", listens)


def test_an_address_of_another_machine_is_exit_code_3(tmp_path: Path) -> None:
    done = invoke("proxy", *UPSTREAM, "--host", "192.0.2.1")
    assert done.exit_code == 3
    assert "is not an address of this machine" in done.stderr
