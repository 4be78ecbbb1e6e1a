"""docs/shared-staging.md as it is printed: its files, its commands, its proxy and its service."""

import json
import os
import re
import shlex
import signal
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest

from simulator.staging.signed_requests import Credentials, sign
from tests.support.certificates import Pair, dated, name_of, pair
from tests.support.pages import await_line, blocks, empty_folder
from tests.support.processes import DEADLINE_S, PROGRAM, ROOT, Serving, environment, free_port, serving
from tests.support.programs import program

pytestmark = [pytest.mark.slow, pytest.mark.needs("nginx", "openssl", "systemd-analyze")]

PAGE = (ROOT / "docs" / "shared-staging.md").read_text("utf-8")
FILES = {block.name: block.text for block in blocks(PAGE) if block.action == "file"}
COMMANDS = [block.text for block in blocks(PAGE) if block.language == "sh"]
OPS = re.search(r"ops +full +(\S+)", PAGE)[1]  # type: ignore[index]
EXPOSURE_MAX = 15  # in tenths, of `systemd-analyze security`


class Answer(NamedTuple):
    """Return the answer and the name of the certificate."""

    status: int
    body: bytes
    peer: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    port: int,
    path: str,
    headers: dict[str, str] | None = None,
    *,
    method: str = "GET",
    body: bytes = b"",
    trusts: Pair | None = None,
    source: str = "127.0.0.1",
) -> Answer:
    """A request from one of this machine's addresses, of https when a certificate is trusted."""
    bound = (source, 0)
    connection: HTTPConnection
    if trusts is None:
        connection = HTTPConnection("127.0.0.1", port, DEADLINE_S, bound)
    else:
        connection = HTTPSConnection("127.0.0.1", port, timeout=DEADLINE_S, source_address=bound, context=trusts.client)
    try:
        connection.request(method, path, body or None, headers or {})
        peer = name_of(cast(ssl.SSLSocket, connection.sock)) if trusts is not None else ""
        response = connection.getresponse()
        return Answer(response.status, response.read(), peer)
    finally:
        connection.close()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The page's files, and a certificate."""
    made = empty_folder(tmp_path)
    for name, text in FILES.items():
        (made / name).write_text(text)
        (made / name).chmod(0o600)
    pair("first").into(made)
    return made


def flags_of(command: str, port: int = 0) -> list[str]:
    """The flags of a command of the page, on loopback and on a free port."""
    _, _, *flags = shlex.split(command.replace("\\\n", " "))
    for name, value in (("--host", "127.0.0.1"), ("--port", str(port))):
        if name in flags:
            flags[flags.index(name) + 1] = value
        else:
            flags += [name, value]
    return flags


@contextmanager
def served(folder: Path, command: str) -> Iterator[tuple[Serving, int]]:
    with serving(*flags_of(command), "--json", "--quiet", folder=str(folder)) as server:
        yield server, int(server.ready["url"].rpartition(":")[2])


SERVED, EXPORTED, PROXIED, BOUNDED, MADE = COMMANDS


def test_the_server_of_the_page_speaks_tls_and_asks_for_its_tokens(folder: Path) -> None:
    with served(folder, SERVED) as (server, port):
        assert server.ready["url"].startswith("https://")
        assert server.ready["control_token"] is None
        first = pair("first")
        assert ask(port, "/_sim/sandboxes", trusts=first).status == 401
        assert ask(port, "/_sim/sandboxes", bearer(OPS), trusts=first).status == 200
        text = EXPORTED.replace("sandbox list", "sandbox list --json").replace(
            "https://sim.example.com:8443", f"https://localhost:{port}"
        )
        text = text.replace("authority.pem", str(first.certificate)).replace("curl ", "curl -sS --noproxy '*' ")
        path = f"{folder.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
        ran = subprocess.run(
            ["/bin/sh", "-ec", text],
            cwd=folder,
            env=environment(PATH=path, PYTHONPATH=str(ROOT)),
            capture_output=True,
            timeout=DEADLINE_S,
            check=False,
        )
        assert (ran.returncode, ran.stderr) == (0, b"")
        listed, whole = (json.loads(line) for line in _documents(ran.stdout.decode()))
        assert [one["id"] for one in listed["sandboxes"]] == [one["id"] for one in whole["sandboxes"]] == ["default"]
        assert whole["sandboxes"][0]["url"] == f"https://localhost:{port}/s/default"


def _documents(text: str) -> list[str]:
    decoder, found = json.JSONDecoder(), []
    while text := text.strip():
        _, end = decoder.raw_decode(text)
        found.append(text[:end])
        text = text[end:]
    return found


def test_a_new_certificate_is_shown_after_sighup_and_one_without_its_key_is_not(folder: Path) -> None:
    with served(folder, SERVED) as (server, port):
        old = HTTPSConnection("127.0.0.1", port, timeout=DEADLINE_S, context=pair("first").client)
        old.request("GET", "/_sim/health")
        assert old.getresponse().read()
        (folder / "cert.pem").write_bytes(pair("second").certificate.read_bytes())
        server.process.send_signal(signal.SIGHUP)
        refused = (
            "SIGHUP: cert.pem and key.pem: the key does not belong to the certificate; the certificate is unchanged"
        )
        assert refused in PAGE
        await_line(server, refused)
        assert ask(port, "/_sim/health", trusts=pair("first")).peer == "first"
        pair("second").into(folder)
        server.process.send_signal(signal.SIGHUP)
        await_line(server, "SIGHUP: the certificate is reloaded")
        assert ask(port, "/_sim/health", trusts=pair("second")).peer == "second"
        old.request("GET", "/_sim/health")
        assert old.getresponse().status == 200  # on its own connection
        old.close()


def test_an_expired_certificate_is_reported_at_the_start_and_by_sighup_and_by_the_metrics(folder: Path) -> None:
    old, line = dated("20200101000000Z", "20210203040506Z"), "cert.pem: the certificate expired on 2021-02-03 at 04:05"
    assert line in PAGE

    def ends(port: int, trusts: Pair) -> float:
        metrics = ask(port, "/_sim/metrics", bearer(OPS), trusts=trusts).body.decode()
        (found,) = re.findall(r"^reseller_sim_certificate_expiry_timestamp_seconds (\S+)$", metrics, re.MULTILINE)
        return float(found)

    with served(folder, SERVED) as (server, port):
        valid_until = ends(port, pair("first"))
        old.into(folder)
        server.process.send_signal(signal.SIGHUP)
        await_line(server, line)
        await_line(server, "SIGHUP: the certificate is reloaded")
        pair("first").into(folder)
        server.process.send_signal(signal.SIGHUP)
        await_line(server, "SIGHUP: the certificate is reloaded")
        assert ends(port, pair("first")) == valid_until > datetime.now(UTC).timestamp()
        assert line not in server.stop(signal.SIGTERM)[2]
    old.into(folder)
    with served(folder, SERVED) as (server, _):
        _, _, told = server.stop(signal.SIGTERM)
        assert told.count(line) == 1


def test_a_new_list_of_tokens_is_asked_for_after_sighup_and_a_bad_one_is_not(folder: Path) -> None:
    first = pair("first")
    with served(folder, SERVED) as (server, port):

        def reload(line: str) -> None:
            server.process.send_signal(signal.SIGHUP)
            await_line(server, line)

        (folder / "tokens").write_text("someone full another-token-00001\n")
        reload("the list of tokens is reloaded")
        assert ask(port, "/_sim/sandboxes", bearer(OPS), trusts=first).status == 401
        assert ask(port, "/_sim/sandboxes", bearer("another-token-00001"), trusts=first).status == 200
        for spoil, why in SPOILT:
            (folder / "tokens").unlink()
            spoil(folder / "tokens")
            reload(f"SIGHUP: tokens: {why}")
            assert ask(port, "/_sim/sandboxes", bearer("another-token-00001"), trusts=first).status == 200
            if (folder / "tokens").is_dir():
                (folder / "tokens").rmdir()
                (folder / "tokens").touch()
        (folder / "tokens").unlink()
        (folder / "elsewhere").write_text("linked read a-linked-token-0001\n")
        (folder / "tokens").symlink_to("elsewhere")
        reload("the list of tokens is reloaded")
        assert ask(port, "/_sim/sandboxes", bearer("a-linked-token-0001"), trusts=first).status == 200


def test_the_control_token_of_a_file_is_read_again_too(folder: Path) -> None:
    token = folder / "token"
    token.write_text("the-first-one\n")
    token.chmod(0o600)
    flags = ("--port", "0", "--json", "--quiet", "--control-token-file", str(token), "--control-tokens", "tokens")
    with serving(*flags, folder=str(folder)) as server:
        port = int(server.ready["url"].rpartition(":")[2])
        for written, line, works in (
            ("the-second-one", "SIGHUP: the control token is reloaded", "the-second-one"),
            ("two words", "must hold one line with a token", "the-second-one"),
        ):
            token.write_text(written)
            server.process.send_signal(signal.SIGHUP)
            await_line(server, line)
            assert ask(port, "/_sim/sandboxes", bearer(works)).status == 200
            assert ask(port, "/_sim/sandboxes", bearer(OPS)).status == 200
            assert ask(port, "/_sim/sandboxes", bearer("the-first-one")).status == 401


SPOILT = (
    (lambda path: path.write_text(""), "has no tokens"),
    (lambda path: path.write_text("x" * 1_100_000), "has more than 1048576 bytes"),
    (lambda path: path.symlink_to("nowhere"), "cannot be read: No such file"),
    (lambda path: path.symlink_to("/dev/zero"), "is not a regular file"),
    (lambda path: os.mkfifo(path), "is not a regular file"),
    (lambda path: path.mkdir(), "is not a regular file"),
    (lambda path: path.write_text("a full short\n"), "line 1: write NAME read|full TOKEN"),
)


def test_a_storm_of_signals_ends_with_the_latest_files_and_blocks_no_client(folder: Path) -> None:
    with served(folder, SERVED) as (server, port):
        first, second = pair("first"), pair("second")
        for number in range(600):
            server.process.send_signal(signal.SIGHUP)
            if number == 300:
                assert ask(port, "/_sim/health", trusts=first).status == 200
        second.into(folder)
        (folder / "tokens").write_text("last full the-last-token-0001\n")
        server.process.send_signal(signal.SIGHUP)
        while True:  # a round ends with this line, and the last round began after the last signal
            await_line(server, "the list of tokens is reloaded")
            if not _is_shown(port, first):
                break
        while ask(port, "/_sim/sandboxes", bearer("the-last-token-0001"), trusts=second).status != 200:
            await_line(server, "the list of tokens is reloaded")
        status, _, _ = server.stop(signal.SIGTERM)
        assert status == 0


def _is_shown(port: int, trusted: Pair) -> bool:
    try:
        return ask(port, "/_sim/health", trusts=trusted).status == 200
    except OSError:
        return False


def test_secrets_that_others_can_read_are_warned_of(folder: Path) -> None:
    (folder / "tokens").chmod(0o644)
    (folder / "key.pem").chmod(0o640)
    with served(folder, SERVED) as (server, _):
        lines = ("tokens: everybody can read this secret; chmod 600 tokens", "key.pem: its group can read this secret")
        for line in lines:
            await_line(server, line)
        (folder / "key.pem").chmod(0o644)  # as a copy of a new one may be
        server.process.send_signal(signal.SIGHUP)
        await_line(server, "key.pem: everybody can read this secret; chmod 600 key.pem")
        await_line(server, "tokens: everybody can read this secret; chmod 600 tokens")


@contextmanager
def nginx(folder: Path, upstream: int, *, removes_root: bool = False) -> Iterator[int]:
    """nginx with the page's server block, on free ports."""
    port = free_port()
    block = FILES["nginx.conf"]
    for printed, here in (
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("/etc/nginx/cert.pem", str(pair("first").certificate)),
        ("/etc/nginx/key.pem", str(pair("first").key)),
        ("http://127.0.0.1:8080;", f"http://127.0.0.1:{upstream}{'/' if removes_root else ''};"),
    ):
        assert printed in block
        block = block.replace(printed, here)
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "whole.conf").write_text(
        f"daemon off;\nmaster_process off;\npid {folder}/nginx.pid;\nerror_log stderr;\nevents {{ }}\n"
        f"http {{\naccess_log off;\n{temporary}{block}}}\n"
    )
    command = [program("nginx"), "-p", str(folder), "-e", "stderr", "-c", str(folder / "whole.conf")]
    tested = subprocess.run([*command, "-t"], capture_output=True, timeout=DEADLINE_S, check=False)
    assert tested.returncode == 0, tested.stderr.decode()
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        _await_listening(port, process)
        yield port
    finally:
        process.kill()
        process.communicate()


def _await_listening(port: int, process: "subprocess.Popen[bytes]") -> None:
    while process.poll() is None:
        try:
            ask(port, "/", trusts=pair("first"))
        except ConnectionRefusedError:
            continue
        return
    assert process.stderr is not None
    raise AssertionError(process.stderr.read().decode())


@pytest.mark.parametrize("removes_root", [False, True])
def test_the_page_s_nginx_has_it_below_a_path(folder: Path, *, removes_root: bool) -> None:
    first = pair("first")
    with served(folder, PROXIED) as (server, upstream), nginx(folder, upstream, removes_root=removes_root) as port:
        named = {"Host": "sim.example.com"} | bearer(OPS)

        def get(path: str, source: str = "127.0.0.2", **headers: str) -> Answer:
            return ask(port, path, named | headers, trusts=first, source=source)

        shown = get("/sim/_sim/sandboxes/default")
        assert shown.json["url"] == "https://sim.example.com/sim/s/default"
        assert get("/sim/_sim/sandboxes", Authorization="Bearer no").status == 401
        assert ask(port, "/sim/_sim/sandboxes", bearer(OPS) | {"Host": "evil.example"}, trusts=first).status == 403

        key = server.ready["resellers"][0]

        def balance(source: str, **headers: str) -> int:
            credentials = Credentials(key["api_key"], key["api_secret"])
            made = sign("GET", f"https://127.0.0.1:{port}", "/sim/s/default/v2/balance", b"", credentials)
            return ask(port, "/sim/s/default/v2/balance", made.headers | headers, trusts=first, source=source).status

        assert balance("127.0.0.2") == 200
        path = f"/sim/_sim/sandboxes/default/resellers/{key['code']}/settings"
        body = json.dumps({"ip_allowlist": ["127.0.0.2"]}).encode()
        changed = ask(port, path, named | {"Content-Type": "application/json"}, method="PATCH", body=body, trusts=first)
        assert changed.status == 200
        assert balance("127.0.0.2") == 200
        assert balance("127.0.0.2", **{"X-Forwarded-For": "203.0.113.9"}) == 200
        assert balance("127.0.0.3") == 403
        assert balance("127.0.0.3", **{"X-Forwarded-For": "127.0.0.2"}) == 403
        assert balance("127.0.0.3", **{"X-Forwarded-For": "127.0.0.2, 127.0.0.1"}) == 403

        events = get("/sim/_sim/events?timeout=1&last=1").body
        assert b"event: " in events


def test_a_sandbox_asks_for_less_than_the_server_allows(folder: Path) -> None:
    with served(folder, BOUNDED) as (_, port):
        text = MADE.replace("http://127.0.0.1:8080", f"http://127.0.0.1:{port}").replace(
            "curl ", "curl -sS --noproxy '*' "
        )
        ran = subprocess.run(["/bin/sh", "-ec", text], capture_output=True, timeout=DEADLINE_S, check=True)
        assert json.loads(ran.stdout)["quotas"] == {"transactions": 500, "bytes": 50_000_000, "rate": 200}


def test_the_unit_is_one_that_systemd_takes_and_calls_safe(folder: Path) -> None:
    unit = folder / "reseller-sim.service"
    command = re.search(r"ExecStart=((?:.*\\\n)*.*)\n", unit.read_text())
    assert command is not None
    started = shlex.split(command[1].replace("\\\n", " "))[0]
    unit.write_text(unit.read_text().replace(started, "/bin/true"))
    analyze = program("systemd-analyze")

    def run(*words: str) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run([analyze, *words, str(unit)], capture_output=True, timeout=DEADLINE_S, check=False)

    verified = run("verify", "--man=no")
    assert (verified.returncode, verified.stdout, verified.stderr) == (0, b"", b"")
    secure = run("security", "--offline=true", "--no-pager", f"--threshold={EXPOSURE_MAX}")
    assert secure.returncode == 0, secure.stdout.decode()
    assert b"OK" in secure.stdout.splitlines()[-1]


def test_the_command_of_the_unit_starts_a_server_that_sighup_reloads_and_sigterm_ends(folder: Path) -> None:
    command = re.search(r"ExecStart=((?:.*\\\n)*.*)\n", FILES["reseller-sim.service"])
    assert command is not None
    text = command[1].replace("/etc/reseller-sim/", f"{folder}/").replace("/var/lib/reseller-sim/", f"{folder}/")
    flags = flags_of(text)
    assert PROGRAM
    with serving(*flags, folder=str(folder)) as server:
        assert "https://127.0.0.1:" in server.first_line
        server.process.send_signal(signal.SIGHUP)
        await_line(server, "SIGHUP: the certificate is reloaded")
        status, _, _ = server.stop(signal.SIGTERM)
        assert status == 0
    assert (folder / "data" / "sandboxes.sqlite3").exists()
