"""Which addresses may be configured, and which IP addresses are called."""

import ipaddress
from collections.abc import Iterator
from ipaddress import ip_address, ip_network

import pytest

from simulator.http_client.addresses import AddressPolicy
from simulator.http_client.targets import (
    MAX_TARGET_CHARS,
    BadTarget,
    HttpTarget,
    InboxTarget,
    parse_target,
    reason_to_refuse,
)


@pytest.mark.parametrize("name", ["callbacks", "a", "Web-Hooks_2.x", "9", "x" * 64])
def test_an_inbox_is_a_target(name: str) -> None:
    assert parse_target(f"inbox:{name}") == InboxTarget(name)


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("http://example.com", "example.com", 80),
        ("https://example.com", "example.com", 443),
        ("http://example.com:8080/callback", "example.com", 8080),
        ("HTTP://Example.COM/Path", "example.com", 80),
        ("http://example.com:/", "example.com", 80),
        ("http://example.com./", "example.com.", 80),
        ("http://example.com:65535/", "example.com", 65535),
        ("http://localhost:1/", "localhost", 1),
        ("http://docker_service-1:80/", "docker_service-1", 80),
        ("http://127.0.0.1:9000/a", "127.0.0.1", 9000),
        ("http://[::1]:9000/a", "::1", 9000),
        ("http://[2001:DB8::1]/", "2001:db8::1", 80),
        ("http://h/a%2Fb%zz?x=%41&&y&y=#fragment", "h", 80),
        ("http://h?only=query", "h", 80),
        ("http://h/@:/", "h", 80),
        ("http://" + "a" * 63 + ".com/", "a" * 63 + ".com", 80),
        ("http://h/" + "x" * (MAX_TARGET_CHARS - 9), "h", 80),
    ],
)
def test_a_url_is_stored_unchanged(text: str, host: str, port: int) -> None:
    assert parse_target(text) == HttpTarget(text, host, port)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://bücher.example/ä?ö=1#ü", "http://xn--bcher-kva.example/%C3%A4?%C3%B6=1#%C3%BC"),
        ("http://BÜCHER.example:81/%7e", "http://xn--bcher-kva.example:81/%7e"),
        ("http://h/日本?%41", "http://h/%E6%97%A5%E6%9C%AC?%41"),
    ],
)
def test_characters_outside_ascii_are_encoded_and_nothing_else(text: str, url: str) -> None:
    target = parse_target(text)
    assert isinstance(target, HttpTarget)
    assert target.url == url


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("2852039166", "169.254.169.254"),
        ("0xa9fea9fe", "169.254.169.254"),
        ("0XA9FEA9FE", "169.254.169.254"),
        ("025177524776", "169.254.169.254"),
        ("0251.0376.0251.0376", "169.254.169.254"),
        ("169.254.43518", "169.254.169.254"),
        ("169.16689662", "169.254.169.254"),
        ("0xa9.254.0251.254", "169.254.169.254"),
        ("169.254.169.254.", "169.254.169.254"),
        ("\uff11\uff16\uff19.254.169.254", "169.254.169.254"),
        ("169\u3002254\u3002169\u3002254", "169.254.169.254"),
        ("2130706433", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"),
        ("0", "0.0.0.0"),
    ],
)
def test_a_numeric_host_becomes_the_address_that_it_stands_for(host: str, address: str) -> None:
    assert parse_target(f"http://{host}:81/x?y") == HttpTarget(f"http://{address}:81/x?y", address, 81)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "callbacks",
        "/callback",
        "//example.com/",
        "example.com:80/callback",
        "http:",
        "http:example.com",
        "http:///callback",
        "http://:80/",
        "http://?x",
        "ftp://example.com/",
        "file:///etc/passwd",
        "gopher://example.com/",
        "javascript:alert(1)",
        "unix:///run/x",
        "http+unix://x/",
        "http://user@example.com/",
        "http://user:secret@example.com/",
        "http://@example.com/",
        "http://a@b@example.com/",
        "http://example.com:0/",
        "http://example.com:65536/",
        "http://example.com:999999/",
        "http://example.com:-1/",
        "http://example.com:+80/",
        "http://example.com:\uff18\uff10/",
        "http://example.com:80:80/",
        "http://example.com:http/",
        " http://example.com/",
        "http://example.com/ ",
        "http://exam ple.com/",
        "http://example.com/\r\nX: y",
        "http://example.com/\t",
        "http://example.com/\x00",
        "http://example.com/\x7f",
        "http://example.com/\u00a0",
        "http://example.com/\u2028",
        "http://example.com/\u202e",
        "http://example.com/\ud800",
        "http://example.com\\@169.254.169.254/",
        "http://[::1/",
        "http://::1/",
        "http://[::1]x/",
        "http://a[::1]/",
        "http://[1.2.3.4]/",
        "http://[::g]/",
        "http://[]/",
        "http://[fe80::1%eth0]/",
        "http://[::1%250]/",
        "http://[v1.x]/",
        "http://256.256.256.256/",
        "http://1.2.3.4.5/",
        "http://08.1.1.1/",
        "http://4294967296/",
        "http://example.1/",
        "http://example.0x/",
        "http://a..b/",
        "http://./",
        "http://-a.example/",
        "http://a-.example/",
        "http://%31%36%39.254.169.254/",
        "http://a,b/",
        "http://" + "a" * 64 + ".com/",
        "http://" + "a." * 127 + "com/",
        "http://" + "ü" * 64 + ".example/",
        "http://\u0378.example/",
        "http://℀.example/",
        "http://h/" + "x" * (MAX_TARGET_CHARS - 8),
        "inbox:",
        "inbox:-a",
        "inbox:.",
        "inbox:..",
        "inbox:a/b",
        "inbox:a b",
        "inbox:ä",
        "inbox:" + "x" * 65,
        "INBOX:a",
    ],
)
def test_an_invalid_address_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(BadTarget) as caught:
        parse_target(text)
    assert str(caught.value)
    assert str(caught.value).isascii()


@pytest.mark.parametrize(
    ("host", "kind"),
    [(".", "a valid name:"), ("a..b", "a valid name:"), ("x" * 300, "a valid name:"), ("ä" * 64, "a valid inter")],
)
def test_a_host_of_ascii_is_not_called_an_international_name(host: str, kind: str) -> None:
    with pytest.raises(BadTarget, match=f"the host is not {kind}"):
        parse_target(f"http://{host}/")


def test_a_reason_does_not_repeat_the_password() -> None:
    with pytest.raises(BadTarget) as caught:
        parse_target("http://user:hunter2@example.com/")
    assert "hunter2" not in str(caught.value)


def private_networks() -> Iterator[str]:
    """The special-purpose networks of this version of Python, except networks that stand for another address."""
    for constants in (ipaddress._IPv4Constants, ipaddress._IPv6Constants):  # type: ignore[attr-defined]
        yield from (str(network) for network in constants._private_networks if str(network) != "::ffff:0:0/96")


METADATA = [
    "169.254.169.254",
    "169.254.0.0",
    "169.254.170.2",
    "169.254.255.255",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "fe80::1",
    "febf:ffff::1",
    "fe80::1%eth0",
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd00:c1::a9fe:a9fe",
    "fd00:42::42",
    "fd20:ce::254",
    "::ffff:169.254.169.254",
    "::169.254.169.254",
    "2002:a9fe:a9fe::1",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::169.254.169.254",
    "64:ff9b:1:a9fe:a9:fe00::",
    "2001:0:a9fe:a9fe::1",
    "2001:0:808:808::5601:5601",
    "::ffff:168.63.129.16",
    "::ffff:192.0.0.192",
    "::ffff:0:169.254.169.254",
    "64:ff9b::168.63.129.16",
    "64:ff9b:1::192.0.0.192",
    "2002:a83f:8110::1",
    "2001:0:a83f:8110::1",
    "2001:0:808:808::57c0:7eef",
    "2a00:1450::5efe:169.254.169.254",
    "2a00:1450::200:5efe:100.100.100.200",
    "::ffff:169.254.169.254%eth0",
]
# Other forms with any IPv4 address in them: a relay on the way may unpack them.
EMBEDDING = [
    "::127.0.0.1",
    "::8.8.8.8",
    "::2",
    "::ffff:0:8.8.8.8",
    "::ffff:0:127.0.0.1",
    "64:ff9b:1::8.8.8.8",
    "64:ff9b:1:808:8:800::",
    "2001::1",
    "2001:0:808:808::1",
    "2002:7f00:1::1",
    "2002:808:808::1",
    "2a00:1450::5efe:8.8.8.8",
    "2a00:1450::200:5efe:10.0.0.1",
    "fd12::5efe:10.0.0.1",
]
NOT_PUBLIC = [
    "127.0.0.1",
    "127.255.255.255",
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.127.255.255",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::10.0.0.1",
    "::ffff:192.168.0.1",
    "100:0:0:1::1",
    "5f00::1",
    "2001:1::1",
    "2001:1ff::1",
    "100::1",
    "2001:db8::1",
    "3fff::1",
    "4000::1",
    "fc00::1",
    "fd12:3456::1",
    "fec0::1",
    "ff02::1",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.1",
    "169.253.255.255",
    "169.255.0.1",
    "172.15.0.1",
    "172.32.0.1",
    "192.167.255.255",
    "223.255.255.255",
    "168.63.129.15",
    "168.63.129.17",
    "192.0.1.1",
    "192.31.196.1",
    "2001:200::1",
    "2606:4700::1111",
    "2606:4700::5efd:808:808",
    "2620:4f:8000::1",
    "2a00:1450::1",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
]


@pytest.mark.parametrize("address", METADATA)
@pytest.mark.parametrize("public_only", [False, True])
def test_metadata_addresses_are_refused_always(address: str, public_only: bool) -> None:
    assert AddressPolicy(public_only).refuse(ip_address(address))


@pytest.mark.parametrize("address", EMBEDDING)
@pytest.mark.parametrize("public_only", [False, True])
def test_forms_that_embed_an_ipv4_address_are_refused_always(address: str, public_only: bool) -> None:
    reason = AddressPolicy(public_only).refuse(ip_address(address))
    assert reason
    assert "embeds an IPv4 address" in reason


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::", "10.0.0.1", "192.168.1.1", "172.17.0.1", "fd12::1"])
def test_this_machine_and_its_network_are_reachable_by_default(address: str) -> None:
    assert AddressPolicy().refuse(ip_address(address)) is None
    assert AddressPolicy(public_only=True).refuse(ip_address(address))


@pytest.mark.parametrize("network", [*private_networks()], ids=str)
def test_addresses_that_python_calls_private_are_never_public(network: str) -> None:
    """The standard library's table grows with its versions; ours has every entry of this version."""
    first, last = ip_network(network)[0], ip_network(network)[-1]
    assert all(AddressPolicy(public_only=True).refuse(address) for address in (first, last))


@pytest.mark.parametrize(
    "host",
    [
        "168.63.129.16",
        "168.63.33040",
        "0xa83f8110",
        "0250.077.0201.020",
        "2822734096",
        "168.63.129.16.",
        "0xc0.0.192",
        "192.192",
        "[::ffff:a83f:8110]",
        "[::ffff:0:808:808]",
        "[64:ff9b::c000:c0]",
        "[2002:808:808::]",
        "[2001::1]",
        "metadata.google.internal",
        "METADATA.google.internal.",
        "metadata.goog",
        "metadata.azure.internal",
        "instance-data.ec2.internal",
        "[fe80::1%eth0]",
    ],
)
def test_a_metadata_service_cannot_be_configured_in_any_spelling(host: str) -> None:
    assert reason_to_refuse(f"http://{host}:81/x")


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "0x7f.1", "[::1]", "metadata", "google.internal", "a.metadata.goog.example"]
)
def test_other_hosts_can_be_configured(host: str) -> None:
    assert reason_to_refuse(f"http://{host}/") is None


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_other_addresses_that_are_not_public_are_refused_when_only_public_ones_are_wanted(address: str) -> None:
    reason = AddressPolicy(public_only=True).refuse(ip_address(address))
    assert reason
    assert reason.startswith(str(ip_address(address)))
    assert AddressPolicy(public_only=False).refuse(ip_address(address)) is None


@pytest.mark.parametrize("address", PUBLIC)
@pytest.mark.parametrize("public_only", [False, True])
def test_public_addresses_are_never_refused(address: str, public_only: bool) -> None:
    assert AddressPolicy(public_only).refuse(ip_address(address)) is None
