"""`make console-figures`: measure the first paint of the console, and how evenly it draws a stream of events.

Server, browser and generator share the cores: one core for the first paint, all for the stream.
"""

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.console import Console, console

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession

ENTRIES = 10_000
EVENTS_PER_PAYMENT = 3
RATE = 290
STREAMED_S = 12
PAINTS = 5

# Times of the frames that the page draws.
WATCH = """() => {
    window.frames = [];
    const next = (at) => { window.frames.push(at); requestAnimationFrame(next); };
    requestAnimationFrame(next);
}"""
# When the first row was on the screen, in milliseconds since the page was asked for.
FIRST_ROW = """() => new Promise((then) => {
    const look = () => document.querySelector("sim-list .rows .row")
        ? requestAnimationFrame((at) => then(at)) : requestAnimationFrame(look);
    look();
})"""


def pay(shown: Console, first: int, payments: int, per_s: float = 0) -> None:
    """Make this many payments, at most `per_s` a second if it is given."""
    began = time.perf_counter()
    for number in range(payments):
        if per_s:
            time.sleep(max(0.0, began + number / per_s - time.perf_counter()))
        shown.pay_only(f"order-{first + number}")


def beside(work: Callable[[], None], shown: Console) -> None:
    """Do the work in a thread while this thread runs the page's loop."""
    done = threading.Event()
    with ThreadPoolExecutor(1) as worker:
        task = worker.submit(work)
        task.add_done_callback(lambda _: done.set())
        while not done.is_set():
            shown.page.wait_for_timeout(50)
        task.result()


def taken_s(of: int) -> float:
    """Return the processor seconds of a process's living descendants."""
    stats = [_stat(one) for one in Path("/proc").glob("[0-9]*")]
    parents = {int(pid): int(fields[1]) for pid, fields in stats if fields}
    ticks = {int(pid): int(fields[11]) + int(fields[12]) for pid, fields in stats if fields}
    below = {of}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    return sum(ticks[pid] for pid in below - {of}) / os.sysconf("SC_CLK_TCK")


def _stat(process: Path) -> tuple[str, list[str]]:
    """Return the fields of /proc/PID/stat after the name, empty when the process has ended."""
    try:
        return process.name, (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return process.name, []


def paints(shown: Console) -> list[tuple[float, float]]:
    """Return the milliseconds to the first row, and the processor milliseconds for it, of newly opened pages."""
    found = []
    for _ in range(PAINTS):
        shown.page.goto("about:blank")
        shown.page.wait_for_timeout(500)
        before = taken_s(os.getpid())
        shown.page.goto(f"{shown.url}/_sim/s/{shown.sandbox}/live", wait_until="commit")
        first = float(shown.page.evaluate(FIRST_ROW))
        found.append((first, (taken_s(os.getpid()) - before) * 1000))
    return found


def streamed(shown: Console) -> tuple[list[float], dict[str, float]]:
    """Return the gaps between frames in milliseconds, and the processor seconds of the page by task, while payments
    arrive at the rate."""
    shown.open()
    shown.row("order").first.wait_for()
    shown.page.wait_for_timeout(3000)
    shown.page.evaluate(WATCH)
    session = shown.page.context.new_cdp_session(shown.page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = metrics(session)
    per_s = RATE / EVENTS_PER_PAYMENT
    beside(lambda: pay(shown, ENTRIES, int(per_s * STREAMED_S), per_s), shown)
    after = metrics(session)
    frames = shown.page.evaluate("window.frames")
    gaps = [later - earlier for earlier, later in pairwise(frames)]
    return gaps, {name: after[name] - before[name] for name in METRICS}


def metrics(session: "CDPSession") -> dict[str, float]:
    """Return the processor seconds of the page's thread by task."""
    return {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}


METRICS = ("TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration")


def at(values: list[float], part: float) -> float:
    """Return the value below which this share of the values is."""
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def main() -> None:
    """Print the figures."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    with console() as shown:
        shown.new_sandbox()
        shown.mine("POST", "resellers/RS001/deposits", {"amount": "1000000.00"})
        beside(lambda: pay(shown, 0, ENTRIES // EVENTS_PER_PAYMENT), shown)
        found = paints(shown)
        walls, works = [wall for wall, _ in found], [work for _, work in found]
        print(
            f"first row with {ENTRIES:,} entries, one core: median {at(walls, 0.5):.0f} ms, worst {max(walls):.0f} ms "
            f"of {PAINTS}; server and browser worked {at(works, 0.5):.0f} ms of it; load {os.getloadavg()[0]:.1f}"
        )
    os.sched_setaffinity(0, cores)
    with console() as shown:
        shown.new_sandbox()
        shown.mine("POST", "resellers/RS001/deposits", {"amount": "1000000.00"})
        beside(lambda: pay(shown, 0, 300), shown)
        gaps, took = streamed(shown)
        took_s = ", ".join(f"{name.removesuffix('Duration').lower()} {value:.2f} s" for name, value in took.items())
        print(
            f"{RATE} events/s for {STREAMED_S} s, {len(cores)} cores: frames {at(gaps, 0.5):.0f} ms apart, "
            f"99% below {at(gaps, 0.99):.0f} ms, worst {max(gaps):.0f} ms; the page took {took_s}; "
            f"load {os.getloadavg()[0]:.1f}"
        )


if __name__ == "__main__":
    main()
