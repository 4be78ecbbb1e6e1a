"""Every flag of `serve` has a variable, which docs/container.md lists."""

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from click import Argument, Context, Option

from simulator.cli import running
from simulator.cli.errors import CannotStart
from simulator.cli.flags import VARIABLES, ServerFlags
from simulator.cli.serve import command
from tests.support.processes import ROOT
from tests.support.runner import invoke

PAGE = (ROOT / "docs" / "container.md").read_text("utf-8")


def variables() -> dict[str, str]:
    """The variable of each flag, and of the argument, as click reads them."""
    context = Context(command, auto_envvar_prefix=VARIABLES)
    found = {}
    for parameter in command.params:
        given = parameter.envvar or (
            parameter.allow_from_autoenv and isinstance(parameter, Option) and f"{VARIABLES}_{parameter.name}".upper()
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

    monkeypatch.setattr(running, "prepare", prepare)
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
        "SHARDS": str(tmp_path / "shards.yaml"),
        "SHARD": "a",
        "WATCH": "0",
        "UNTIL_STDIN_ENDS": "0",
        "JSON": "1",
        "QUIET": "1",
        "LOG": "json",
    }
    assert {f"{VARIABLES}_{name}" for name in given} == set(variables().values())
    result = invoke("serve", **{f"{VARIABLES}_{name}": text for name, text in given.items()})  # type: ignore[arg-type]
    assert result.stderr == "seen\n"
    (flags,) = seen
    assert flags.clock is not None
    assert (flags.scenario, flags.host, flags.port, flags.clock.mode, flags.seed) == (
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
    assert (flags.shards, flags.shard) == (tmp_path / "shards.yaml", "a")
    assert (flags.data_dir, flags.durability, flags.names_scenario) == (tmp_path / "data", "power", True)
