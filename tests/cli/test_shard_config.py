"""`shard-config`: what it prints and writes, HAProxy's opinion of it, and what it refuses."""

import subprocess
from pathlib import Path

import pytest

from tests.support.programs import program
from tests.support.runner import invoke, refusal

SERVERS = ("a=http://127.0.0.1:8081", "b=http://127.0.0.1:8082", "c=http://[::1]:8083")


@pytest.mark.needs("haproxy")
@pytest.mark.parametrize("flags", [(), ("--listen", "*:9000"), ("--listen", "[::1]:9000"), ("--map", "resellers.map")])
def test_haproxy_finds_no_fault_with_what_is_printed(
    flags: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = invoke("shard-config", *SERVERS, *flags)
    assert result.exit_code == 0
    file = tmp_path / "haproxy.cfg"
    file.write_text(result.stdout)
    checked = subprocess.run([program("haproxy"), "-c", "-f", str(file)], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr.strip()) == (0, ""), checked.stderr
    assert checked.stdout.strip() == "Configuration file is valid"


def test_a_file_and_words_give_the_same_in_any_order(tmp_path: Path) -> None:
    file = tmp_path / "shards.yaml"
    file.write_text('servers: {c: "http://[::1]:8083", a: "http://127.0.0.1:8081", b: "http://127.0.0.1:8082"}')
    assert invoke("shard-config", str(file)).stdout == invoke("shard-config", *SERVERS).stdout


def test_a_map_has_the_keys_and_users_of_the_scenario(tmp_path: Path) -> None:
    file = tmp_path / "resellers.map"
    file.write_text("what was there before")
    result = invoke("shard-config", *SERVERS, "--map", str(file))
    assert f"map_str({file})" in result.stdout
    assert file.read_text().splitlines() == [
        "key/test_key_RS001 RS001",
        "key/test_key_RS001_revoked RS001",
        "key/test_key_RS001_no_secret RS001",
        "key/test_key_RS001_undecryptable RS001",
        "user/test_user_RS001 RS001",
    ]
    assert [one.name for one in tmp_path.iterdir()] == ["resellers.map"]
    assert "map_str" not in invoke("shard-config", *SERVERS).stdout


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ((), 2, "Missing argument 'FILE | NAME=URL...'"),
        (("a=http://h:1", "a=http://h:2"), 1, "shard-config: 'a=http://h:2': the name a appears twice"),
        (("none.yaml",), 1, "shard-config: none.yaml: No such file or directory"),
        (("a=http://h:1", "--listen", "h:1"), 1, "'h:1' is no address to listen on; use one such as 127.0.0.1:8080"),
        (("a=http://h:1", "--listen", "*:0"), 1, "'*:0' is no address to listen on"),
        (("a=http://h:1", "--listen", "*:8080\nuser root"), 1, "is no address to listen on"),
        (("a=http://h:1", "--map", "/none/a.map"), 3, "shard-config: /none/a.map: No such file or directory"),
        (("a=http://h:1", "--map", "a map"), 1, "the path of a map has letters, digits and . _ - / alone"),
        (("a=http://h:1", "--scenario", "default-2"), 2, "--scenario is read for --map FILE, which is missing"),
        (("a=http://h:1", "--map", "a.map", "--scenario", "none"), 1, "none"),
    ],
)
def test_an_unusable_list_is_refused_on_one_line(words: tuple[str, ...], status: int, said: str) -> None:
    assert said in refusal(invoke("shard-config", *words), status)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--shards", "shards.yaml"), "--shards FILE and --shard NAME belong together"),
        (("--shard", "a"), "--shards FILE and --shard NAME belong together"),
        (("--shards", "shards.yaml", "--shard", "z"), "there is no server 'z' in the list; it has a, b"),
        (("--shards", "none.yaml", "--shard", "a"), "none.yaml: No such file or directory"),
        (
            ("--shards", "shards.yaml", "--shard", "a", "--tls-cert", "cert.pem", "--tls-key", "key.pem"),
            "the servers of a list ask each other by http: TLS is for the proxy before them, not for --tls-cert",
        ),
    ],
)
def test_a_server_that_cannot_be_one_of_them_does_not_start(
    flags: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shards.yaml").write_text("servers: {a: 'http://127.0.0.1:8081', b: 'http://127.0.0.1:8082'}")
    assert said in refusal(invoke("serve", "--port", "0", *flags), 3)
