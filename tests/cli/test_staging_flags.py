"""Flags of a server that a team shares: what each refuses, before anything listens."""

from pathlib import Path

import click
import pytest

from simulator.cli.values import host_names
from simulator.server.regular_files import CannotRead, content_of
from tests.support.certificates import pair
from tests.support.runner import invoke, refusal


@pytest.mark.parametrize(
    ("flags", "hint"),
    [
        (("--tls-cert", "cert.pem"), "--tls-key is missing: give both, or neither"),
        (("--tls-key", "key.pem"), "--tls-cert is missing: give both, or neither"),
        (("--tls-cert", "/", "--tls-key", "key.pem"), "is a directory"),
        (("--trusted-forwarders", "proxy"), "'proxy' is no address and no network such as 10.0.0.5"),
        (("--trusted-forwarders", ""), "'' is no address"),
        (("--trusted-forwarders", "10.0.0.1,"), "'' is no address"),
        (("--trusted-forwarders", "10.0.0.1/8"), "with no bit set behind its prefix"),
        (("--trusted-forwarders", "10.0.0.0/33"), "is no address"),
        (("--trusted-forwarders", "0.0.0.0/0"), "is everybody: name the proxies"),
        (("--trusted-forwarders", "::/0"), "is everybody: name the proxies"),
        (("--trusted-forwarders", ",".join(["10.0.0.1"] * 65)), "there are 65, and at most 64"),
        (("--allow-host", ""), "'' is no host name: give it alone, such as sim.example.com"),
        (("--allow-host", "sim.example.com:8443"), "'sim.example.com:8443' is no host name: give it alone"),
        (("--allow-host", "https://sim.example.com"), "without a scheme, a port or a *"),
        (("--allow-host", "*.example.com"), "is no host name"),
        (("--allow-host", "a.test,,b.test"), "'' is no host name"),
        (("--allow-host", "[::1]:8080"), "is no host name"),
        (("--allow-host", "sím.test"), "is no host name"),
        (("--root-path", "sim"), "'sim' is no path such as /sim"),
        (("--root-path", "/sim//x"), "is no path such as /sim"),
        (("--root-path", "/a b"), "is no path such as /sim"),
        (("--root-path", "/%2f"), "is no path such as /sim"),
        (("--root-path", "/" + "x" * 101), "is no path such as /sim"),
        (("--root-path", "/a" * 11), "is no path such as /sim"),
        (("--root-path", "/_sim"), "/_sim is one of the server's own paths"),
        (("--root-path", "/s"), "/s is one of the server's own paths"),
        (("--root-path", "/v2/x"), "is one of the server's own paths"),
        (("--quota-transactions", "-1"), "--quota-transactions"),
        (("--quota-transactions", "many"), "--quota-transactions"),
        (("--quota-bytes", "1M"), "--quota-bytes"),
        (("--quota-bytes", str(2**41)), "--quota-bytes"),
        (("--quota-rate", "-0.1"), "--quota-rate"),
        (("--quota-rate", "nan"), "--quota-rate"),
        (("--quota-rate", "inf"), "--quota-rate"),
    ],
)
def test_a_bad_flag_is_wrong_usage(flags: tuple[str, ...], hint: str) -> None:
    assert hint in refusal(invoke("serve", "--port", "0", *flags), 2)


@pytest.mark.parametrize(
    ("flags", "hint"),
    [
        (("--control-tokens", "no-such-file"), "no-such-file: cannot be read: No such file"),
        (("--control-tokens", "/dev/null"), "/dev/null: is no regular file"),
        (("--control-tokens", "empty"), "empty: has no tokens"),
        (("--control-tokens", "bad"), "bad: line 2: the role of ci is read or full"),
        (("--tls-cert", "no-such-file", "--tls-key", "empty"), "no-such-file: cannot be read (No such file"),
        (("--tls-cert", "empty", "--tls-key", "empty"), "empty: is no certificate in PEM"),
    ],
)
def test_a_file_that_cannot_be_used_keeps_the_server_from_starting(
    flags: tuple[str, ...], hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").touch(mode=0o600)
    Path("bad").write_text("# nobody\nci admin 0123456789abcdef\n")
    Path("bad").chmod(0o600)
    assert hint in refusal(invoke("serve", "--port", "0", *flags), 3)


def test_a_certificate_without_its_key_keeps_the_server_from_starting() -> None:
    flags = ("--tls-cert", str(pair("first").certificate), "--tls-key", str(pair("second").key))
    assert "the key is not that of the certificate" in refusal(invoke("serve", "--port", "0", *flags), 3)


def test_a_file_is_read_up_to_its_bound_and_never_waited_for(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 10)
    (tmp_path / "link").symlink_to("file")
    assert content_of(tmp_path / "link", 10) == b"x" * 10
    for path, why in (("file", "has more than 9 bytes"), ("no", "cannot be read: No such"), ("\0", "not a file name")):
        with pytest.raises(CannotRead, match=why):
            content_of(tmp_path / path, 9)


def test_a_host_may_be_a_name_or_an_address_as_an_address_bar_has_it() -> None:
    context, names = (
        click.Context(click.Command("serve")),
        ("sim.example.com", "my_sim", "10.0.0.5", "[FE80::1]", "::1"),
    )
    found = host_names(context, click.Option(["--allow-host"]), names)
    assert found == ("sim.example.com", "my_sim", "10.0.0.5", "fe80::1", "::1")
