"""W3C Trace Context: which headers are read, which are as good as none, and what is passed on."""

import pytest

from simulator.runtime.traces import TraceContext, passed_on, sent_trace, trace_of

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"


def state_of(*values: str) -> str:
    """Return the forwarded part of these `tracestate` headers."""
    found = trace_of([(b"traceparent", PARENT.encode()), *((b"tracestate", one.encode("latin-1")) for one in values)])
    assert found is not None
    return found.state


@pytest.mark.parametrize(
    ("sent", "flags"),
    [
        (PARENT, 1),
        (f"00-{TRACE}-{SPAN}-00", 0),
        (f"00-{TRACE}-{SPAN}-ff", 3),
        (f" {PARENT}\t", 1),
        (f"cc-{TRACE}-{SPAN}-01", 1),
        (f"cc-{TRACE}-{SPAN}-01-what-will-the-future-be-like", 1),
    ],
)
def test_a_valid_traceparent_is_read(sent: str, flags: int) -> None:
    assert trace_of([(b"host", b"x"), (b"traceparent", sent.encode())]) == TraceContext(TRACE, SPAN, flags)


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "00",
        "00-",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE}-{SPAN}-1",
        f"00-{TRACE}-{SPAN}-01-",
        f"00-{TRACE}-{SPAN}-01-more",
        f"ff-{TRACE}-{SPAN}-01",
        f"cc-{TRACE}-{SPAN}-01.more",
        f"0-{TRACE}-{SPAN}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{TRACE[:-1]}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}0-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE}-{SPAN}-0x",
        f"00_{TRACE}_{SPAN}_01",
        f"{PARENT}, {PARENT}",
        "\xb2" * 55,
    ],
)
def test_an_invalid_traceparent_is_ignored(sent: str) -> None:
    assert trace_of([(b"traceparent", sent.encode("latin-1"))]) is None


def test_two_traceparents_are_ignored_and_so_is_a_tracestate_alone() -> None:
    assert trace_of([(b"traceparent", PARENT.encode())] * 2) is None
    assert trace_of([(b"tracestate", b"a=1")]) is None


@pytest.mark.parametrize(
    ("sent", "passed"),
    [
        (("congo=t61rcWkgMzE,rojo=00f067aa0ba902b7",), "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7"),
        (("a=1", "b=2"), "a=1,b=2"),
        (("a=1 ,\t, b=2,",), "a=1,b=2"),
        (("fw529a3039@dt=FfAAE; x",), "fw529a3039@dt=FfAAE; x"),
        (("4a@b=1",), "4a@b=1"),
        (("",), ""),
        (("a=1,a=2",), ""),
        (("a",), ""),
        (("a=",), ""),
        (("A=1",), ""),
        (("4a=1",), ""),
        (("a@B=1",), ""),
        (("a=b=c",), ""),
        (("a=\xe9",), ""),
        (("a=b\x7f",), ""),
        ((",".join(f"k{n}=1" for n in range(32)),), ",".join(f"k{n}=1" for n in range(32))),
        ((",".join(f"k{n}=1" for n in range(33)),), ""),
        (("a=" + "x" * 256,), "a=" + "x" * 256),
        (("a=" + "x" * 257,), ""),
        (("a=" + "x" * 256 + ",b=" + "x" * 251,), "a=" + "x" * 256 + ",b=" + "x" * 251),
        (("a=" + "x" * 256 + ",b=" + "x" * 252,), ""),
        (("a=1" + "," * 2000 + "b=1",), ""),
    ],
)
def test_a_tracestate_is_passed_on_whole_or_not_at_all(sent: tuple[str, ...], passed: str) -> None:
    assert state_of(*sent) == passed


def test_the_forwarded_traceparent_is_another_span_of_the_trace() -> None:
    trace = TraceContext(TRACE, SPAN, 1)
    assert passed_on(trace, "b" * 16) == (("traceparent", f"00-{TRACE}-{'b' * 16}-01"),)
    with_state = passed_on(TraceContext(TRACE, SPAN, 0, "a=1"), "b" * 16)
    assert with_state == (("traceparent", f"00-{TRACE}-{'b' * 16}-00"), ("tracestate", "a=1"))
    assert sent_trace((("Content-Type", "x"), *with_state)) == (TRACE, "b" * 16)
    assert sent_trace(()) == ("", "")
