"""The flags of a server and their variables: all of them reach it, and bad values are refused in a line."""

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from click import Argument, Context, Option

from simulator.cli import server
from simulator.cli.serve import serve_command, unknown_variables
from simulator.cli.server_flags import ServerFlags
from simulator.cli.usage import VARIABLES, CannotStart
from simulator.cli.values import host_names
from simulator.whole_files import CannotRead, content_of
from tests.support.certificates import pair
from tests.support.processes import ROOT
from tests.support.runner import invoke, refusal

PAGE = (ROOT / "docs" / "container.md").read_text("utf-8")


def variables() -> dict[str, str]:
    """The variable of each flag, and of the argument, as click reads them."""
    context = Context(serve_command, auto_envvar_prefix=VARIABLES)
    found = {}
    for parameter in serve_command.params:
        if isinstance(parameter, Option) and parameter.hidden:
            continue
        given = parameter.envvar or (
            isinstance(parameter, Option) and parameter.allow_from_autoenv and f"{VARIABLES}_{parameter.name}".upper()
        )
        assert given, f"{parameter.name} has no variable"
        found["SCENARIO" if isinstance(parameter, Argument) else parameter.opts[0]] = str(given)
    assert context.params == {}
    return found


def test_the_page_lists_the_variable_of_every_flag_of_serve() -> None:
    listed = re.findall(r"^\| `(RESELLER_SIM_\w+)` \| `(--[a-z-]+|SCENARIO)` \|", PAGE, re.MULTILINE)
    assert {flag: variable for variable, flag in listed} == variables()


def test_all_of_them_reach_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[ServerFlags] = []

    def prepare(flags: ServerFlags, *_: Callable[..., Any]) -> None:
        seen.append(flags)
        raise CannotStart("seen")

    monkeypatch.setattr(server, "prepare", prepare)
    token = tmp_path / "token"
    token.write_text("secret\n")
    given = {
        "SCENARIO": "bad-day",
        "HOST": "0.0.0.0",
        "PORT": "9000",
        "CLOCK": "manual",
        "START": "2027-01-10T23:59:00+08:00",
        "SEED": "7",
        "CONTROL_TOKEN": "other",
        "CONTROL_TOKEN_FILE": str(token),
        "ALLOW_HOST": "reseller-sim staging.test",
        "CALLBACKS": "public",
        "CALLBACKS_CA": str(pair("authority").certificate),
        "CALLBACK": "http://shop:8090/callbacks",
        "TRUST_FORWARDED": "1",
        "SANDBOX_TTL": "1h",
        "SCENARIOS": str(tmp_path),
        "DATA_DIR": str(tmp_path / "data"),
        "DURABILITY": "power",
        "TRUSTED_FORWARDERS": "10.0.0.1 10.1.0.0/16",
        "ROOT_PATH": "/sim",
        "TLS_CERT": str(tmp_path / "cert.pem"),
        "TLS_KEY": str(tmp_path / "key.pem"),
        "CONTROL_TOKENS": str(tmp_path / "tokens"),
        "QUOTA_TRANSACTIONS": "100",
        "QUOTA_BYTES": "1000000",
        "QUOTA_RATE": "50",
        "TAPE_BUDGET": "64",
        "DRAIN": "5s",
        "STORE": "postgresql://db/sim",
        "LEASE": "5s",
        "STORE_GRACE": "10s",
        "ADVERTISE": "http://10.0.0.5:9000",
        "WATCH": "0",
        "UNTIL_STDIN_ENDS": "0",
        "JSON": "1",
        "OUTPUT": "json",
        "UTC": "1",
        "QUIET": "1",
        "LOG": "json",
    }
    assert {f"{VARIABLES}_{name}" for name in given} == set(variables().values())
    result = invoke("serve", **{f"{VARIABLES}_{name}": text for name, text in given.items()})  # type: ignore[arg-type]
    assert result.stderr == "reseller-sim serve: seen\n"
    (flags,) = seen
    assert flags.clock is not None
    assert (flags.scenario, flags.host, flags.port, flags.clock[0], flags.seed) == (
        "bad-day",
        "0.0.0.0",
        9000,
        "manual",
        7,
    )
    assert flags.start == datetime.fromisoformat(given["START"])
    assert flags.control_token_file == (str(token), "secret")
    assert flags.allow_host == ("reseller-sim", "staging.test")
    assert (flags.callbacks, flags.callback) == ("public", given["CALLBACK"])
    assert (flags.trust_forwarded, flags.sandbox_ttl, flags.scenarios) == (True, 3600, tmp_path)
    assert (flags.trusted_forwarders, flags.root_path) == (("10.0.0.1", "10.1.0.0/16"), "/sim")
    assert (flags.tls_cert, flags.tls_key) == (tmp_path / "cert.pem", tmp_path / "key.pem")
    assert flags.control_tokens == tmp_path / "tokens"
    assert (flags.quota_transactions, flags.quota_bytes, flags.quota_rate) == (100, 1_000_000, 50.0)
    assert (flags.tape_budget, flags.drain) == (64, 5.0)
    assert (flags.store, flags.lease, flags.store_grace) == ("postgresql://db/sim", 5.0, 10.0)
    assert flags.advertise == "http://10.0.0.5:9000"
    assert (flags.data_dir, flags.durability, flags.names_scenario) == (tmp_path / "data", "power", True)


BAD = {
    "SCENARIO": ("bad-dya", "bad-dya: unknown_scenario there is no bundled scenario and no file 'bad-dya'"),
    "HOST": ("nowhere", "'nowhere' is not an address of this machine; choose another with --host"),
    "PORT": ("80a", "'80a' is not a valid whole number"),
    "CLOCK": ("fast", "clock 'fast' is not one of real, manual, x60"),
    "START": ("yesterday", "'yesterday' must be an ISO 8601 time such as"),
    "SEED": ("1e9", "'1e9' is not a valid whole number"),
    "CONTROL_TOKEN": ("a b", "a token consists of visible ASCII characters"),
    "CONTROL_TOKEN_FILE": ("/none", "'/none' cannot be read: No such file"),
    "ALLOW_HOST": (
        "http://sim:8080",
        "'http://sim:8080' is not a host name: write only the name, such as sim.example.com",
    ),
    "CALLBACKS_CA": ("/none", "File '/none' does not exist"),
    "CALLBACKS": ("none", "'none' is not one of 'any', 'public'"),
    "CALLBACK": ("shop", "'shop' cannot be called back: the address must begin with http://"),
    "TRUST_FORWARDED": ("maybe", "'maybe' is not a valid boolean"),
    "SANDBOX_TTL": ("soon", "'soon' is not a duration: write a duration such as 90s"),
    "SCENARIOS": ("/none", "Directory '/none' does not exist"),
    "DATA_DIR": ("/dev/null", "/dev/null: is a file: give a folder"),
    "DURABILITY": ("always", "'always' is not one of 'process', 'power'"),
    "TRUSTED_FORWARDERS": ("proxy", "'proxy' is not an address or network such as"),
    "ROOT_PATH": ("sim", "'sim' is not a path such as /sim"),
    "TLS_CERT": ("/none", "--tls-key is missing: give both, or neither"),
    "TLS_KEY": ("/none", "--tls-cert is missing: give both, or neither"),
    "CONTROL_TOKENS": ("/none", "/none: cannot be read: No such file"),
    "QUOTA_TRANSACTIONS": ("many", "'many' is not a valid whole number"),
    "QUOTA_BYTES": ("1M", "'1M' is not a valid whole number"),
    "QUOTA_RATE": ("fast", "'fast' is not a valid number"),
    "TAPE_BUDGET": ("1GiB", "'1GiB' is not a valid whole number"),
    "DRAIN": ("2h", "'2h' is not at least 0 s and at most 3600 s: write a duration"),
    "STORE": ("mysql://db/sim", "--store: is not an address such as postgresql://host:5432/database"),
    "LEASE": ("0s", "'0s' is not at least 1 s and at most 600 s: write a duration"),
    "STORE_GRACE": ("soon", "'soon' is not a duration: write a duration"),
    "ADVERTISE": ("10.0.0.5", "'10.0.0.5' is not an address such as http://10.0.0.5:8080"),
    "WATCH": ("maybe", "'maybe' is not a valid boolean"),
    "UNTIL_STDIN_ENDS": ("maybe", "'maybe' is not a valid boolean"),
    "JSON": ("maybe", "'maybe' is not a valid boolean"),
    "OUTPUT": ("yaml", "'yaml' is not one of 'text', 'json'"),
    "UTC": ("maybe", "'maybe' is not a valid boolean"),
    "QUIET": ("maybe", "'maybe' is not a valid boolean"),
    "LOG": ("xml", "'xml' is not one of 'text', 'json'"),
}


def test_there_is_a_bad_value_of_each_variable() -> None:
    assert {f"{VARIABLES}_{name}" for name in BAD} == set(variables().values())


@pytest.mark.parametrize("name", BAD)
def test_a_bad_value_keeps_the_server_from_starting_and_names_its_variable(name: str) -> None:
    """In one line, since that is what an engine shows of a container that ended."""
    value, told = BAD[name]
    result = invoke("serve", **{f"{VARIABLES}_PORT": "0", f"{VARIABLES}_{name}": value})  # type: ignore[arg-type]
    line = refusal(result, result.exit_code)
    assert result.exit_code in (2, 3)
    assert told in line
    if "Invalid value" in line:
        assert line.startswith(f"reseller-sim serve: Invalid value of {VARIABLES}_{name}, for '--")


def test_a_flag_is_not_reported_as_a_variable() -> None:
    result = invoke("serve", "--port", "80a", RESELLER_SIM_PORT="9000")
    assert refusal(result, 2).startswith(
        "reseller-sim serve: Invalid value for '--port': '80a' is not a valid whole number"
    )
    result = invoke("health", RESELLER_SIM_CONTROL_TOKEN="a b")
    assert "Invalid value of RESELLER_SIM_CONTROL_TOKEN, for '--token'" in refusal(result, 2)


@pytest.mark.parametrize("value", ["tcp://10.3.2.1:80", "udp://[fd00::1]:8080"])
def test_variables_that_kubernetes_sets_for_a_service_of_our_name_are_no_port(value: str) -> None:
    """It gives each pod RESELLER_SIM_PORT, asked for or not."""
    result = invoke("serve", "bad-dya", RESELLER_SIM_PORT=value)
    assert "bad-dya" in refusal(result, 3), "all flags were read"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("sim.example.com", ("sim.example.com",)),
        ("a, b", ("a", "b")),
        ("a,b c_d", ("a", "b", "c_d")),
        ("[fd00::1] fd00::2", ("fd00::1", "fd00::2")),
        ("", ()),
    ],
)
def test_names_of_hosts_have_commas_or_spaces_between_them(
    text: str, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{VARIABLES}_ALLOW_HOST", text)
    context = serve_command.make_context("serve", [], auto_envvar_prefix=VARIABLES)
    assert context.params["allow_host"] == names


@pytest.mark.parametrize("text", ["http://sim", "sim:8080", "sim/", "*", "*.example.com", "-x", "a;b", "é"])
def test_an_invalid_host_name_is_refused(text: str) -> None:
    """It would match no request, without any explanation."""
    assert " is not a host name: write only the name" in refusal(invoke("serve", "--allow-host", text), 2)


@pytest.mark.parametrize(
    ("flags", "hint"),
    [
        (("--tls-cert", "cert.pem"), "--tls-key is missing: give both, or neither"),
        (("--tls-key", "key.pem"), "--tls-cert is missing: give both, or neither"),
        (("--tls-cert", "/", "--tls-key", "key.pem"), "is a directory"),
        (("--trusted-forwarders", "proxy"), "'proxy' is not an address or network such as 10.0.0.5"),
        (("--trusted-forwarders", ""), "'' is not an address"),
        (("--trusted-forwarders", "10.0.0.1,"), "'' is not an address"),
        (("--trusted-forwarders", "10.0.0.1/8"), "without bits after its prefix"),
        (("--trusted-forwarders", "10.0.0.0/33"), "is not an address"),
        (("--trusted-forwarders", "0.0.0.0/0"), "contains every address: name the proxies"),
        (("--trusted-forwarders", "::/0"), "contains every address: name the proxies"),
        (("--allow-host", ""), "'' is not a host name: write only the name, such as sim.example.com"),
        (("--allow-host", "sim.example.com:8443"), "'sim.example.com:8443' is not a host name: write only the name"),
        (("--allow-host", "https://sim.example.com"), "without a scheme, a port or a *"),
        (("--allow-host", "*.example.com"), "is not a host name"),
        (("--allow-host", "a.test,,b.test"), "'' is not a host name"),
        (("--allow-host", "[::1]:8080"), "is not a host name"),
        (("--allow-host", "sím.test"), "is not a host name"),
        (("--root-path", "sim"), "'sim' is not a path such as /sim"),
        (("--root-path", "/sim//x"), "is not a path such as /sim"),
        (("--root-path", "/a b"), "is not a path such as /sim"),
        (("--root-path", "/%2f"), "is not a path such as /sim"),
        (("--root-path", "/" + "x" * 101), "is not a path such as /sim"),
        (("--root-path", "/a" * 11), "is not a path such as /sim"),
        (("--root-path", "/_sim"), "/_sim is a path of the server itself"),
        (("--root-path", "/s"), "/s is a path of the server itself"),
        (("--root-path", "/v2/x"), "is a path of the server itself"),
        (("--quota-transactions", "-1"), "--quota-transactions"),
        (("--quota-transactions", "many"), "--quota-transactions"),
        (("--quota-bytes", "1M"), "--quota-bytes"),
        (("--quota-bytes", str(2**41)), "--quota-bytes"),
        (("--quota-rate", "-0.1"), "--quota-rate"),
        (("--quota-rate", "inf"), "--quota-rate"),
    ],
)
def test_a_bad_flag_is_wrong_usage(flags: tuple[str, ...], hint: str) -> None:
    assert hint in refusal(invoke("serve", "--port", "0", *flags), 2)


@pytest.mark.parametrize(
    ("flags", "hint"),
    [
        (("--control-tokens", "no-such-file"), "no-such-file: cannot be read: No such file"),
        (("--control-tokens", "/dev/null"), "/dev/null: is not a regular file"),
        (("--control-tokens", "empty"), "empty: has no tokens"),
        (("--control-tokens", "bad"), "bad: line 2: write NAME read|full TOKEN"),
        (("--tls-cert", "no-such-file", "--tls-key", "empty"), "no-such-file: cannot be read: No such file"),
        (("--tls-cert", "empty", "--tls-key", "empty"), "empty: has no line -----BEGIN CERTIFICATE-----"),
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
    assert "the key does not belong to the certificate" in refusal(invoke("serve", "--port", "0", *flags), 3)


def test_a_file_is_read_up_to_its_bound_and_never_waited_for(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 10)
    (tmp_path / "link").symlink_to("file")
    assert content_of(tmp_path / "link", 10) == b"x" * 10
    for path, why in (("file", "has more than 9 bytes"), ("no", "cannot be read: No such"), ("\0", "not a file name")):
        with pytest.raises(CannotRead, match=why):
            content_of(tmp_path / path, 9)


def test_a_host_may_be_a_name_or_an_address_as_an_address_bar_has_it() -> None:
    names = ("sim.example.com", "my_sim", "10.0.0.5", "[FE80::1]", "::1")
    assert host_names(names) == ("sim.example.com", "my_sim", "10.0.0.5", "fe80::1", "::1")


def said(*names: str) -> str:
    return unknown_variables(serve_command, [f"{VARIABLES}_{name}" for name in names])


@pytest.mark.parametrize("name", ["PROT", "DATADIR", "TOKENS", "port", "VERSION"])
def test_a_variable_that_no_verb_reads_is_named(name: str) -> None:
    assert said(name, "PORT") == f"unknown environment variables, ignored: RESELLER_SIM_{name}"


def test_several_are_on_one_line_of_a_bounded_length() -> None:
    assert said("PROT", "A") == "unknown environment variables, ignored: RESELLER_SIM_A, RESELLER_SIM_PROT"
    assert len(said(*(f"X{number}" for number in range(1_000)))) == 300


def test_variables_of_other_verbs_of_kubernetes_and_of_other_programs_are_ignored() -> None:
    assert said("PORT", "CALLBACKS_TO", "TOKEN", "URL", "UPSTREAM", "SECRET") == ""
    assert (
        said("SERVICE_HOST", "SERVICE_PORT_HTTP", "PORT_8080_TCP_PROTO", "A_SERVICE_HOST", "A_PORT", "TLS_PORT") == ""
    )
    assert said("PORT\n", "PÖRT") == ""
    assert unknown_variables(serve_command, ["RESELLER_PROT", "PROT", "PATH"]) == ""


def test_the_server_says_it_and_starts() -> None:
    told = invoke("serve", "bad-dya", RESELLER_SIM_PROT="9000").stderr.splitlines()
    assert told[0] == "reseller-sim serve: unknown environment variables, ignored: RESELLER_SIM_PROT"
    assert "bad-dya" in told[1], "the start went on"
