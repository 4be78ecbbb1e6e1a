"""OpenTelemetry where it is installed and configured: the tracer that spans are made with. Nothing of it is imported
otherwise."""

import os
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simulator import __version__

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

SCOPE: Final = "reseller-sim"
SDK: Final = "opentelemetry.sdk.trace"
VARIABLES: Final = (
    "OTEL_TRACES_EXPORTER",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_PYTHON_TRACER_PROVIDER",
)
"""Each of them says that somebody wants traces."""

CREDENTIAL_PROVIDERS: Final = (
    "OTEL_PYTHON_EXPORTER_OTLP_HTTP_CREDENTIAL_PROVIDER",
    "OTEL_PYTHON_EXPORTER_OTLP_HTTP_TRACES_CREDENTIAL_PROVIDER",
)

FLUSH_S: Final = 1.0
"""How long a server that stops waits for its last spans to be sent."""


class Tracing(NamedTuple):
    """What makes spans, and what sends the last ones."""

    tracer: "Tracer"
    flush: Callable[[], object]


def configured(tell: Callable[[str], object]) -> Tracing | None:
    """The tracing that the process or its environment asks for; None for none. `tell` hears why it is not to be had."""
    asks = next((name for name in VARIABLES if os.environ.get(name)), "")
    wanted = os.environ.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    if wanted == "none" or os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    if not asks and SDK not in sys.modules:
        return None
    try:
        from opentelemetry import trace
    except ImportError:
        tell(f"{asks} is set, but there are no traces without OpenTelemetry: install the extra `otel`")
        return None
    provider: Any = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider):
        provider = _own_provider(wanted, tell)
    if provider is None:
        return None
    flush = getattr(provider, "force_flush", lambda: True)
    return Tracing(provider.get_tracer(SCOPE, __version__), lambda: _within(FLUSH_S, flush))


def _within(limit_s: float, do: Callable[[], object]) -> None:
    """Do something for so long at most; an exporter goes on trying for longer than it was told."""
    thread = threading.Thread(target=do, name="last spans", daemon=True)
    thread.start()
    thread.join(limit_s)


def _own_provider(wanted: str, tell: Callable[[str], object]) -> Any:
    """A provider as the variables want it, where nobody has made one; None when it cannot be made."""
    try:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter

        if wanted == "console":
            exporter: Any = ConsoleSpanExporter(out=sys.stderr)
        elif wanted in ("", "otlp"):
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

            from simulator.cli.collector import session

            has_own = any(os.environ.get(name) for name in CREDENTIAL_PROVIDERS)  # which makes the session
            exporter = OTLPSpanExporter() if has_own else OTLPSpanExporter(session=session())
        else:
            tell(f"OTEL_TRACES_EXPORTER={wanted!r} is none of otlp, console and none: there are no traces")
            return None
    except ImportError as error:
        tell(f"there are no traces without {error.name}: install the extra `otel`")
        return None
    is_named = "OTEL_SERVICE_NAME" in os.environ or "service.name" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    provider = TracerProvider(resource=Resource.create({} if is_named else {"service.name": SCOPE}))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider
