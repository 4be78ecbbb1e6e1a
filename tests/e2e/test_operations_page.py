"""docs/operations.md, played, and examples/monitoring with a real Prometheus that reads a server with traffic."""

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import isnan
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml

from simulator.control.metrics import DEFINITIONS
from tests.support.on_the_wire import WiredSandbox
from tests.support.pages import blocks, empty_folder, follow
from tests.support.processes import DEADLINE_S, ROOT, Serving, ask, free_port, run, serving
from tests.support.programs import program

pytestmark = [pytest.mark.slow, pytest.mark.needs("curl", "prometheus", "promtool")]

PAGE = (ROOT / "docs" / "operations.md").read_text("utf-8")
MONITORING = ROOT / "examples" / "monitoring"
DASHBOARD = json.loads((MONITORING / "grafana-dashboard.json").read_text())
RULES = yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"][0]["rules"]


def test_the_page_shows_what_its_commands_print(tmp_path: Path) -> None:
    program("curl")
    steps = [one for one in blocks(PAGE) if one.language != "yaml" and "reseller-sim serve" not in one.text]
    with serving("--clock", "manual", "--port", "0", "--json") as server:
        follow(steps, empty_folder(tmp_path), server)


def test_the_container_of_the_page_is_started_with_flags_that_exist_and_asked_at_paths_that_answer() -> None:
    (container,) = yaml.safe_load(next(one.text for one in blocks(PAGE) if one.language == "yaml"))["containers"]
    with serving("--port", "0", "--json") as server:
        for probe in ("readinessProbe", "livenessProbe"):
            assert ask(f"{server.ready['url']}{container[probe]['httpGet']['path']}").status == 200
    known = run("serve", "--help").out
    assert [word for word in container["args"] if word.startswith("--") and f" {word} " not in known] == []


def pay(box: WiredSandbox, refid: str) -> None:
    box.pay({"refid": refid, "product": "RELOAD", "account": "0123456789", "amount": 10})


def traffic(server: Serving, round_: str) -> None:
    """Payments, callbacks and webhooks, good and bad, and what is no request at all."""
    url = server.ready["url"]
    owner = server.ready["resellers"][0]
    box = WiredSandbox(int(url.rpartition(":")[2]), "default", owner["api_key"], owner["api_secret"])
    for number in range(5):
        pay(box, f"{round_}-{number}")
    ask(f"{url}/v2/balance")
    ask(f"{url}/v2/nowhere")
    for path, body in (("/resellers/RS001/deposits", b'{"amount": 5}'), ("/clock/advance", b'{"until": "idle"}')):
        assert ask(f"{url}/_sim/sandboxes/default{path}", "POST", body).status < 300


class Relay(ThreadingHTTPServer):
    """Passes on what Prometheus asks a server, and counts how often."""

    def __init__(self, url: str) -> None:
        super().__init__(("127.0.0.1", 0), Passing)
        self.url = url
        self.asked = 0
        self.changed = threading.Condition()

    def await_asked(self, more: int) -> None:
        """Wait until it was asked so many times more."""
        with self.changed:
            wanted = self.asked + more
            assert self.changed.wait_for(lambda: self.asked >= wanted, DEADLINE_S)


class Passing(BaseHTTPRequestHandler):
    """One question of Prometheus."""

    server: Relay

    def do_GET(self) -> None:
        """Ask the server the same."""
        answer = ask(f"{self.server.url}{self.path}")
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.headers["content-type"])
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)
        with self.server.changed:
            self.server.asked += 1
            self.server.changed.notify_all()

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@contextmanager
def prometheus(relay: Relay, folder: Path) -> Iterator[str]:
    """The address of a Prometheus with the configuration of the examples, but that it asks often, and the relay."""
    config = (MONITORING / "prometheus.yml").read_text()
    config = config.replace("15s", "200ms").replace("127.0.0.1:8080", f"127.0.0.1:{relay.server_address[1]}")
    (folder / "prometheus.yml").write_text(config)
    (folder / "alerts.yml").write_text((MONITORING / "alerts.yml").read_text())
    address = f"127.0.0.1:{free_port()}"
    flags = f"--config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address={address}".split()
    process = subprocess.Popen([program("prometheus"), *flags], cwd=folder, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    lines = process.stderr
    try:
        while "Server is ready to receive web requests" not in (line := lines.readline()):
            assert line, "it ended"
        reading = threading.Thread(target=lambda: [None for _ in lines], daemon=True)
        reading.start()
        yield f"http://{address}"
    finally:
        process.kill()
        process.wait()
        reading.join(DEADLINE_S)
        lines.close()


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Prometheus that has read the metrics of a server before and after some traffic."""
    scenario = tmp_path_factory.mktemp("scenario") / "watched.yaml"
    hook = "{ url: 'inbox:hooks' }"
    scenario.write_text(
        f"extends: default\nclock: manual\nresellers: [{{ code: RS001, balance: 500000, balance_webhook: {hook} }}]\n"
    )
    with serving(str(scenario), "--port", "0", "--json") as server, Relay(server.ready["url"]) as relay:
        threading.Thread(target=relay.serve_forever, daemon=True).start()
        traffic(server, "before")
        with prometheus(relay, tmp_path_factory.mktemp("prometheus")) as url:
            relay.await_asked(2)
            traffic(server, "behind")
            relay.await_asked(3)
            yield url
        relay.shutdown()


def asked(url: str, query: str) -> list[float]:
    """Return the answer of Prometheus to a query: a number for each series."""
    answer = ask(f"{url}/api/v1/query?query={quote(query, safe='')}")
    assert answer.status == 200, answer.body
    return [float(one["value"][1]) for one in answer.json["data"]["result"]]


WITH_FLAG = "With --"  # metrics of a server with a certificate or a store
"""Metrics of a server that speaks https, which the watched one does not."""

QUERIES = [
    (f"{panel['title']} {target['refId']}", target["expr"])
    for panel in DASHBOARD["panels"]
    for target in panel["targets"]
]


def test_each_query_of_the_dashboard_finds_data(watched: str) -> None:
    empty = []
    for name, query in QUERIES:
        found = asked(watched, query.replace("$__rate_interval", "1m").replace("$instance", ".*"))
        if all(map(isnan, found)):
            empty.append((name, query))
    assert empty == []


def test_the_metrics_of_the_reference_match_the_metrics_of_the_server(watched: str) -> None:
    names = ask(f"{watched}/api/v1/label/__name__/values").json["data"]
    ours = {
        re.sub("_(bucket|sum|count)$", "", name) for name in names if name.startswith(("reseller_sim_", "process_"))
    }
    assert ours == {name for name, one in DEFINITIONS.items() if not one.about.startswith(WITH_FLAG)}


def test_the_alerts_are_loaded_and_a_good_server_raises_none(watched: str) -> None:
    (group,) = ask(f"{watched}/api/v1/rules").json["data"]["groups"]
    assert [one["name"] for one in group["rules"]] == [one["alert"] for one in RULES]
    assert [one["alert"] for one in RULES if asked(watched, one["expr"])] == []
    assert [one["alert"] for one in RULES if f"| `{one['alert']}` |" not in PAGE] == []


# The series that raise each alert, a value per minute.
RAISED: dict[str, dict[str, str]] = {
    "SimulatorDown": {'up{job="reseller-sim",instance="a"}': "1 1 0x30"},
    "SimulatorNotReady": {'reseller_sim_ready{instance="a"}': "1 0x30"},
    "SimulatorMistakes": {'reseller_sim_mistakes_total{instance="a"}': "0x20 1x10"},
    "SimulatorSlow": {
        'reseller_sim_event_loop_lag_seconds_bucket{instance="a",le="0.25"}': "0x30",
        'reseller_sim_event_loop_lag_seconds_bucket{instance="a",le="1"}': "0+9x30",
        'reseller_sim_event_loop_lag_seconds_bucket{instance="a",le="+Inf"}': "0+9x30",
    },
    "SimulatorReceiversFail": {
        'reseller_sim_attempts_total{instance="a",kind="callback",outcome="accepted"}': "0+1x30",
        'reseller_sim_attempts_total{instance="a",kind="callback",outcome="timeout"}': "0+2x30",
    },
    "SimulatorPending": {
        'reseller_sim_jobs_pending{instance="a",kind="callback"}': "9000x30",
        'reseller_sim_jobs_pending{instance="a",kind="webhook"}': "2000x30",
    },
    "SimulatorCertificate": {'reseller_sim_certificate_expiry_timestamp_seconds{instance="a"}': "1200000x30"},
    "SimulatorMemory": {'process_resident_memory_bytes{job="reseller-sim",instance="a"}': "3000000000x30"},
}


def test_each_alert_is_raised_by_what_it_is_about(tmp_path: Path) -> None:
    promtool = program("promtool")
    assert RAISED.keys() == {one["alert"] for one in RULES}
    tests = [
        {
            "interval": "1m",
            "input_series": [{"series": name, "values": values} for name, values in series.items()],
            "promql_expr_test": [
                {
                    "expr": f'count(ALERTS{{alertname="{alert}",alertstate="firing"}})',
                    "eval_time": "30m",
                    "exp_samples": [{"labels": "{}", "value": 1}],
                }
            ],
        }
        for alert, series in RAISED.items()
    ]
    (tmp_path / "alerts.yml").write_text((MONITORING / "alerts.yml").read_text())
    (tmp_path / "tests.yml").write_text(
        yaml.safe_dump({"rule_files": ["alerts.yml"], "evaluation_interval": "1m", "tests": tests})
    )
    for arguments in (("check", "rules", "alerts.yml"), ("test", "rules", "tests.yml")):
        done = subprocess.run([promtool, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_promtool_finds_nothing_to_improve_in_the_metrics() -> None:
    with serving("--port", "0", "--json", "--clock", "manual") as server:
        traffic(server, "checked")
        text = ask(f"{server.ready['url']}/_sim/metrics").body
    done = subprocess.run([program("promtool"), "check", "metrics"], input=text, capture_output=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, b"")


def test_the_dashboard_is_one_that_grafana_imports() -> None:
    assert (DASHBOARD["uid"], DASHBOARD["schemaVersion"] >= 36) == ("reseller-sim", True)
    assert "id" not in DASHBOARD, "a new one gets its own"
    variables = {one["name"]: one["type"] for one in DASHBOARD["templating"]["list"]}
    assert variables == {"datasource": "datasource", "instance": "query"}
    panels = DASHBOARD["panels"]
    assert len({one["id"] for one in panels}) == len(panels) == len({one["title"] for one in panels})
    places: set[tuple[int, int]] = set()
    for panel in panels:
        assert panel["type"] in ("timeseries", "stat")
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & places, f"{panel['title']} covers another"
        assert place["x"] + place["w"] <= 24
        places |= cells
        for target in panel["targets"]:
            assert target["datasource"] == panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
            assert '{instance=~"$instance"}' in target["expr"]
    assert len(places) == 24 * (1 + max(y for _, y in places)), "there are no holes"
