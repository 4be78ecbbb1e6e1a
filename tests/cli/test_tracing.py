"""Spans of OpenTelemetry: of requests and attempts, as the SDK exports them, and nothing at all where nobody asks."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import ThreadingHTTPServer
from urllib.parse import quote

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from simulator.cli import telemetry
from simulator.cli.collector import ANSWER_BYTES_MAX, session
from simulator.cli.telemetry import Tracing
from simulator.cli.tracing import Spans
from tests.support.client import Client, running
from tests.support.local_server import QuietHandler, local_server
from tests.support.processes import DEADLINE_S, ROOT, ask, environment, serving

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACED = {"traceparent": f"00-{TRACE}-{SPAN}-01", "tracestate": "congo=1"}


class Exported:
    """The spans of an application in this process."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        tracing = Tracing(provider.get_tracer("test"), provider.force_flush)

        async def begin() -> Spans:
            return Spans(client.app.sandboxes, tracing)

        self._spans = client.run(begin())

    def all(self) -> list[ReadableSpan]:
        """Those of all that has happened."""

        async def end() -> None:
            self._spans.end()

        self._client.run(end())
        return list(self._exporter.get_finished_spans())


def context(span: ReadableSpan) -> tuple[str, str]:
    """The trace and the id of a span."""
    assert span.context is not None
    return f"{span.context.trace_id:032x}", f"{span.context.span_id:016x}"


def test_requests_and_attempts_are_spans_of_the_clients_trace_and_the_callback_says_which() -> None:
    with running() as client:
        exported = Exported(client)
        client.sim("PUT", "/sandboxes/default/inbox/callbacks", {"replies": [{"status": 503}, {"status": 200}]})
        client.pay("order-1", headers=TRACED)
        client.advance()
        request, *attempts = exported.all()
        sent = [dict(one["headers"])["traceparent"] for one in client.inbox()]
    assert (request.name, request.kind, request.status.status_code) == (
        "POST /v2/topup",
        SpanKind.SERVER,
        StatusCode.UNSET,
    )
    assert request.attributes is not None
    assert {
        "http.request.method": "POST",
        "http.route": "/v2/topup",
        "http.response.status_code": 200,
        "reseller_sim.sandbox": "default",
        "reseller_sim.request": 1,
        "reseller_sim.refid": "order-1",
    }.items() <= request.attributes.items()
    assert "error.type" not in request.attributes
    for span in (request, *attempts):
        assert context(span)[0] == TRACE
        assert span.parent is not None
        assert (f"{span.parent.span_id:016x}", span.parent.trace_state.to_header()) == (SPAN, "congo=1")
    assert [f"00-{'-'.join(context(one))}-01" for one in attempts] == sent
    assert [(one.name, one.kind) for one in attempts] == [("POST callback", SpanKind.CLIENT)] * 3
    assert [one.status.status_code for one in attempts] == [StatusCode.ERROR, StatusCode.UNSET, StatusCode.UNSET]
    assert all(one.start_time and one.end_time and one.start_time <= one.end_time for one in (request, *attempts))


def test_what_has_no_trace_begins_one_and_refusals_say_why() -> None:
    with running() as client:
        exported = Exported(client)
        client.pay("a")
        client.call("GET", "/v2/nowhere")
        client.call("GET", "/v2/balance", secret="AAAA", headers={"traceparent": f"00-{TRACE}-{SPAN}-00"})
        client.advance()
        spans = exported.all()
    assert [one.name for one in spans] == ["POST /v2/topup", "_OTHER", "POST callback", "POST callback"]
    assert [one.parent for one in spans] == [None] * 4
    assert len({context(one) for one in spans}) == 4
    assert spans[1].attributes is not None
    assert (spans[1].attributes["url.path"], spans[1].status.status_code) == ("/v2/nowhere", StatusCode.UNSET)


def test_spans_have_no_secrets() -> None:
    with running() as client:
        exported = Exported(client)
        client.send("GET", "/v2/balance", "token=unseen-1", headers={"X-Api-Key": "unseen-2"})
        client.call("POST", "/v2/callback-url?url=http%3A%2F%2F127.0.0.1%3A9%2Fcb%3Ftoken%3Dunseen-3&method=POST")
        client.pay()
        client.advance(10)
        shown = "".join(one.to_json() for one in exported.all())
    assert "127.0.0.1:9/cb" in shown
    assert "unseen" not in shown


def test_what_the_server_knows_to_be_a_secret_is_hidden_in_spans_wherever_a_client_wrote_it() -> None:
    secret, token = "bm90LWEtc2VjcmV0LW9ubHktZm9yLXRlc3RpbmctMDE=", "the-control-token-0001"
    with running() as client:
        client.app.use_tokens(token, ())
        client.app.use_tokens(None, ())  # the former ones are hidden, too
        exported = Exported(client)
        url = quote(f"http://127.0.0.1:9/{token}/{quote(secret, safe='')}", safe="")
        assert client.call("POST", f"/v2/callback-url?url={url}&method=POST").status == 200
        client.pay(token, headers=TRACED | {"tracestate": f"congo={token}"})
        client.advance(10)
        shown = "".join(one.to_json() for one in exported.all())
    assert "http://127.0.0.1:" in shown
    assert [one for one in (secret, quote(secret, safe=""), token) if one in shown] == []


def test_another_sandbox_and_one_that_is_deleted_have_spans_too() -> None:
    with running() as client:
        exported = Exported(client)
        client.sandbox({"scenario": "b", "extends": "default", "clock": {"mode": "manual"}}, "second")
        client.call("GET", "/v2/balance", sandbox="second")
        client.sim("DELETE", "/sandboxes/second")
        (span,) = exported.all()
    assert span.attributes is not None
    assert span.attributes["reseller_sim.sandbox"] == "second"


class Endless(QuietHandler):
    """A collector whose answers have no end."""

    written = 0

    def do_POST(self) -> None:
        """Answer until nobody listens."""
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.end_headers()
        with suppress(OSError):
            while Endless.written < 64 * 1024 * 1024:
                Endless.written += self.wfile.write(bytes(64 * 1024))


def test_of_a_collector_whose_answer_has_no_end_only_the_beginning_is_read() -> None:
    """Else it takes all memory of the server within seconds."""
    with local_server(Endless) as url, session() as asking:
        answer = asking.post(f"{url}/v1/traces", b"spans", timeout=DEADLINE_S)
    assert (answer.status_code, len(answer.content)) == (200, ANSWER_BYTES_MAX)
    assert Endless.written < 64 * 1024 * 1024


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in (*telemetry.VARIABLES, "OTEL_SDK_DISABLED", "OTEL_SERVICE_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delitem(sys.modules, telemetry.SDK, raising=False)
    return monkeypatch


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({}, ""),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}, ""),
        ({"OTEL_SDK_DISABLED": "TRUE", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}, ""),
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "OTEL_TRACES_EXPORTER='zipkin' is none of otlp, console and none"),
    ],
)
def test_there_are_no_traces_where_nobody_wants_them_or_they_cannot_be_sent(
    variables: dict[str, str], said: str, clean: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        clean.setenv(name, value)
    told: list[str] = []
    assert telemetry.configured(told.append) is None
    assert "".join(told).startswith(said)
    assert bool(told) == bool(said)


def test_where_opentelemetry_is_not_installed_a_line_says_so(clean: pytest.MonkeyPatch) -> None:
    clean.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    for name in [name for name in sys.modules if name.split(".")[0] == "opentelemetry"]:
        clean.delitem(sys.modules, name)
    clean.setitem(sys.modules, "opentelemetry", None)
    told: list[str] = []
    assert telemetry.configured(told.append) is None
    assert told == [
        "OTEL_EXPORTER_OTLP_ENDPOINT is set, but there are no traces without OpenTelemetry: install the extra `otel`"
    ]


def test_nothing_of_opentelemetry_is_imported_where_nobody_asks_for_it() -> None:
    program = (
        "import sys\nfrom simulator.cli import serve, telemetry\nassert telemetry.configured(print) is None\n"
        "print(sorted(name for name in sys.modules if 'opentelemetry' in name))"
    )
    variables = {name: value for name, value in environment().items() if not name.startswith("OTEL_")}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=variables, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


class Collector(ThreadingHTTPServer):
    """Receives spans as a collector does."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Receiving)
        self.got: list[tuple[str, ExportTraceServiceRequest]] = []
        self.changed = threading.Condition()


class Receiving(QuietHandler):
    """One export."""

    server: Collector

    def do_POST(self) -> None:
        """Take it."""
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            import gzip

            body = gzip.decompress(body)
        with self.server.changed:
            self.server.got.append((self.path, ExportTraceServiceRequest.FromString(body)))
            self.server.changed.notify_all()
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as one:
        threading.Thread(target=one.serve_forever, daemon=True).start()
        yield one
        one.shutdown()


def test_a_server_whose_environment_names_a_collector_sends_its_spans_there(collector: Collector) -> None:
    url = f"http://127.0.0.1:{collector.server_address[1]}"
    with serving("--port", "0", "--json", OTEL_EXPORTER_OTLP_ENDPOINT=url, OTEL_TRACES_EXPORTER="") as server:
        assert ask(f"{server.ready['url']}/v2/balance", headers=TRACED).status == 401
        assert server.stop(15) == (0, "", "")
    with collector.changed:
        assert collector.changed.wait_for(lambda: collector.got, DEADLINE_S)
    ((path, request),) = collector.got
    (resource,) = request.resource_spans
    (span,) = resource.scope_spans[0].spans
    named = {one.key: one.value.string_value for one in resource.resource.attributes}
    assert (path, named["service.name"], span.name) == ("/v1/traces", "reseller-sim", "GET /v2/balance")
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, SPAN)


def test_a_server_that_stops_does_not_wait_for_a_collector_that_does_not_answer(clean: pytest.MonkeyPatch) -> None:
    asked, answered = threading.Event(), threading.Event()

    class Provider:
        def get_tracer(self, *_: str) -> str:
            return "the tracer"

        def force_flush(self) -> None:
            asked.set()
            answered.wait(DEADLINE_S)

    clean.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    clean.setattr("opentelemetry.trace.get_tracer_provider", Provider)
    clean.setattr(telemetry, "FLUSH_S", 0.01)
    tracing = telemetry.configured(pytest.fail)
    assert tracing is not None
    assert str(tracing.tracer) == "the tracer"
    assert tracing.flush() is None
    assert asked.wait(DEADLINE_S)
    assert not answered.is_set()
    answered.set()


def test_a_collector_that_is_not_there_holds_up_nobody() -> None:
    with serving("--port", "0", "--json", OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9") as server:
        for _ in range(3):
            assert ask(f"{server.ready['url']}/v2/balance", headers=TRACED).status == 401
        status, out, _ = server.stop(15)
        assert (status, out) == (0, "")
