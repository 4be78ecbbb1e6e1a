"""The Dockerfile and compose.yaml, played in folders that are roots: what is in the image, and how it runs."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.certificates import pair
from tests.support.processes import DEADLINE_S, ROOT, Done
from tests.support.programs import program, required
from tests.support.shared_work import once
from tools.containers.dockerfiles import stages
from tools.containers.engine import NAMED, Image, Network, build, empty_root, images, network

pytestmark = [pytest.mark.slow, pytest.mark.needs("wheelhouse")]

SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]
TOKEN = "a-secret-of-this-test"
ASK = """
import sys, urllib.error, urllib.request
request = urllib.request.Request(sys.argv[1], headers={"Authorization": sys.argv[2]})
try:
    print(urllib.request.urlopen(request).status)
except urllib.error.HTTPError as error:
    print(error.code)
"""


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """Built once for all workers; what is needed is root and the wheels of `make wheelhouse`."""
    required(
        "root", os.geteuid() == 0 and subprocess.run([program("unshare"), "-m", "true"], check=False).returncode == 0
    )
    required("wheelhouse", any((ROOT / "wheelhouse").glob("hatchling-*.whl")))
    return images(once(tmp_path_factory, "image", lambda folder: build(folder, ROOT / "wheelhouse")))[-1]


@pytest.fixture
def net(image: Image) -> Iterator[Network]:
    with network() as made:
        yield made


@contextmanager
def started(command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """A container that runs until the test is done with it."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        try:
            yield process
        finally:
            process.kill()
            process.communicate(timeout=DEADLINE_S)  # which end with the last process of the container


def done(command: Sequence[str]) -> Done:
    ran = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    return Done(ran.returncode, ran.stdout, ran.stderr)


def stopped(server: subprocess.Popen[str], image: Image) -> int:
    """Send process number one of a container the stop signal; its exit code, which unshare has as its own."""
    (child,) = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    os.kill(int(child), getattr(signal, image.stage.stop_signal))
    server.communicate(timeout=DEADLINE_S)
    return server.returncode


def new_volume(image: Image, tmp_path: Path) -> Path:
    """A folder like an engine's volume for `/data`: with the owner and the mode of the image's folder."""
    kept, folder = (image.root / "data").stat(), tmp_path / "data"
    folder.mkdir()
    os.chown(folder, kept.st_uid, kept.st_gid)
    folder.chmod(kept.st_mode)
    return folder


def until_ready(net: Network, image: Image, **variables: str) -> None:
    """The health check of the image, as often as an engine asks."""
    waiting = ["sh", "-c", f"{image.stage.health[2].removeprefix('exec ')} --wait 50s"]
    ready = done(net.command(image, waiting, binds={}, read_only=True, **variables))
    assert ready.status == 0, ready.err


def test_the_image_serves_a_shop_in_another_container_and_keeps_its_data(
    image: Image, net: Network, tmp_path: Path
) -> None:
    """As compose.yaml has it: read-only, its own user, the names of the services as hosts."""
    ours, theirs = SERVICES["reseller-sim"], SERVICES["shop"]
    assert ours["read_only"]
    given = {name: TOKEN if "TOKEN" in name else text for name, text in ours["environment"].items()}
    data = new_volume(image, tmp_path)
    shop = shop_image(tmp_path)
    wanted = {name: TOKEN if "TOKEN" in name else text for name, text in theirs["environment"].items()}
    for status in ("first", "second"):  # the second run resumes the data of the first
        words = [*image.stage.entry, *image.stage.command]
        binds = {"/data": data, "/scenarios": ROOT / "scenarios"}
        with started(net.command(image, words, binds=binds, read_only=True, **given)) as server:
            until_ready(net, image)
            bought = done(
                net.command(shop, theirs["command"], binds={"/app": ROOT / "examples"}, read_only=True, **wanted)
            )
            assert bought.status == 0, (status, bought)
            assert bought.out.splitlines()[-1].endswith(" is Succesful")
            assert stopped(server, image) == 0
    listed = done(net.command(image, ["reseller-sim", "data", "check", "/data"], binds={"/data": data}, read_only=True))
    assert listed.status == 0, listed.err


def shop_image(tmp_path: Path) -> Image:
    """The base image alone, with the code of the shop in a volume."""
    (stage,) = stages("FROM python:3.13-slim\nWORKDIR /app/container\nUSER 10002:10002", image_variables())
    return Image(empty_root(tmp_path / "shop", ("app",)), stage)


def image_variables() -> dict[str, str]:
    return {"PATH": f"{sys.base_prefix}/bin:/usr/bin:/bin:{NAMED}", "PYTHONPATH": "/app/python"}


def test_it_is_process_one_unprivileged_and_ends_at_once_by_its_stop_signal(image: Image, net: Network) -> None:
    tried = "echo $$; id -u; touch /opt/x 2>/dev/null || echo read-only; grep NoNewPrivs /proc/self/status"
    inner = f"{tried}; exec reseller-sim serve --json"
    with started(net.command(image, ["sh", "-c", inner], binds={}, read_only=True)) as server:
        assert server.stdout is not None
        lines = [server.stdout.readline().strip() for _ in range(5)]
        assert lines[:4] == ["1", "10001", "read-only", "NoNewPrivs:\t1"]
        ready = json.loads(lines[4])
        assert ready["url"] == "http://127.0.0.1:8080"
        assert ready["control_token"], "it listens on all addresses, so its control API wants a token"
        until_ready(net, image)
        for name, authorization, status in (
            ("reseller-sim", f"Bearer {ready['control_token']}", "200"),
            ("localhost", f"Bearer {ready['control_token']}", "200"),
            ("reseller-sim", "none", "401"),
            ("shop", f"Bearer {ready['control_token']}", "403"),
        ):
            asked = done(
                net.command(
                    image,
                    ["python", "-c", ASK, f"http://{name}:8080/_sim/sandboxes", authorization],
                    binds={},
                    read_only=True,
                )
            )
            assert asked.out.strip() == status, (name, asked)
        assert stopped(server, image) == 0


def test_another_port_is_one_variable_for_the_server_and_its_health_check(image: Image, net: Network) -> None:
    with started(
        net.command(image, ["reseller-sim", "serve", "--json"], binds={}, read_only=True, RESELLER_SIM_PORT="9000")
    ) as server:
        assert server.stdout is not None
        assert json.loads(server.stdout.readline())["url"] == "http://127.0.0.1:9000"
        until_ready(net, image, RESELLER_SIM_PORT="9000")
    unhealthy = done(net.command(image, image.stage.health, binds={}, read_only=True, RESELLER_SIM_PORT="9001"))
    assert unhealthy.status == 3


def test_the_health_check_accepts_the_certificate_of_the_container_under_any_name(
    image: Image, net: Network, tmp_path: Path
) -> None:
    mounted = tmp_path / "tls"
    mounted.mkdir()
    os.chown(pair("staging", "DNS:sim.example.com").into(mounted).key, 10001, 10001)
    tls = {"RESELLER_SIM_TLS_CERT": "/scenarios/cert.pem", "RESELLER_SIM_TLS_KEY": "/scenarios/key.pem"}
    binds = {"/scenarios": mounted}
    with started(net.command(image, ["reseller-sim", "serve", "--json"], binds=binds, read_only=True, **tls)) as server:
        assert server.stdout is not None
        assert json.loads(server.stdout.readline())["url"] == "https://127.0.0.1:8080"
        healthy = done(net.command(image, image.stage.health, binds=binds, read_only=True, **tls))
        assert healthy.status == 0, healthy.err


def test_it_runs_as_any_user_of_the_engine_and_writes_only_its_data(image: Image, net: Network, tmp_path: Path) -> None:
    """As OpenShift has it: a number that no file of the image knows, in group 0."""
    other = replace(image, stage=replace(image.stage, user="1000660000:0"))
    binds = {"/data": new_volume(image, tmp_path)}
    words = ["reseller-sim", "serve", "--json", "--data-dir", "/data"]
    with started(net.command(other, words, binds=binds, read_only=True)) as server:
        until_ready(net, other)
        assert stopped(server, other) == 0
    checked = done(net.command(other, ["reseller-sim", "data", "check", "/data"], binds=binds, read_only=True))
    assert checked.out.startswith("/data: undamaged: 1 sandbox"), checked
    asked = ["reseller-sim", "exec", "--", "sh", "-c", "id -u; reseller-sim call GET /v2/balance"]
    ran = done(net.command(other, asked, binds={}, read_only=True))
    assert ran.out.splitlines() == ["1000660000", '{"data":{"balance":5000,"currency":"MYR"}}'], ran


def test_a_data_folder_of_another_user_is_named_on_one_line(image: Image, net: Network, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=0o755)
    words, given = ["reseller-sim", "serve"], {"RESELLER_SIM_DATA_DIR": "/data"}
    refused = done(net.command(image, words, binds={"/data": tmp_path / "data"}, read_only=True, **given))
    told = "reseller-sim serve: /data/owner.sqlite3: cannot be used (Permission denied): give a folder that can be"
    assert (refused.status, refused.only_error_line) == (3, told)
    refused = done(net.command(image, words, binds={}, read_only=True, **given))
    told = "reseller-sim serve: /data/owner.sqlite3: cannot be used (Read-only file system): give a folder that can be"
    assert (refused.status, refused.only_error_line) == (3, told)


def test_the_image_contains_no_build_tools_and_no_tests(image: Image) -> None:
    site = next((image.root / "opt" / "reseller-sim" / "lib").glob("python3*/site-packages"))
    names = {path.name.partition("-")[0] for path in site.iterdir()}
    assert {"simulator", "reseller_sim", "uvicorn"} <= names
    assert not names & {"pip", "hatchling", "tests", "pytest"}
    assert image.stage.user == "10001:10001"
    assert image.stage.volumes == ["/scenarios", "/data"]
    assert image.stage.ports == ["8080"]
    kept = (image.root / "data").stat()
    assert (kept.st_uid, kept.st_gid, kept.st_mode & 0o777) == (10001, 0, 0o770)
