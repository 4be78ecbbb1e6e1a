"""`make console-figures`: how long the console takes to its first paint, and how evenly it draws what is streamed.

Server, browser and generator share the cores that are given: one for the first paint, all for the stream.
"""

import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from tests.support.console import Console, console

ENTRIES = 10_000
EVENTS_PER_PAYMENT = 3
RATE = 290
STREAMED_S = 12
PAINTS = 5

# Times of the frames that the page draws, and of its tasks that take longer than 50 ms.
WATCH = """() => {
    window.frames = []; window.tasks = [];
    const next = (at) => { window.frames.push(at); requestAnimationFrame(next); };
    requestAnimationFrame(next);
    new PerformanceObserver((seen) => window.tasks.push(...seen.getEntries().map((one) => one.duration)))
        .observe({ entryTypes: ["longtask"] });
}"""
# When the first row was on the screen, in milliseconds since the page was asked for.
FIRST_ROW = """() => new Promise((then) => {
    const look = () => document.querySelector("sim-list .rows .row")
        ? requestAnimationFrame((at) => then(at)) : requestAnimationFrame(look);
    look();
})"""


def pay(shown: Console, first: int, payments: int, per_s: float = 0) -> None:
    """So many payments, not faster than `per_s` when one is given."""
    began = time.perf_counter()
    for number in range(payments):
        if per_s:
            time.sleep(max(0.0, began + number / per_s - time.perf_counter()))
        shown.pay_only(f"order-{first + number}")


def beside(work: Callable[[], None], shown: Console) -> None:
    """Do the work while the page's own loop, which is in this thread, goes on."""
    done = threading.Event()
    with ThreadPoolExecutor(1) as worker:
        task = worker.submit(work)
        task.add_done_callback(lambda _: done.set())
        while not done.is_set():
            shown.page.wait_for_timeout(50)
        task.result()


def paints(shown: Console) -> list[float]:
    """Milliseconds to the first row, in a page that is opened anew each time."""
    found = []
    for _ in range(PAINTS):
        shown.page.goto("about:blank")
        shown.page.goto(f"{shown.url}/_sim/s/{shown.sandbox}/live", wait_until="commit")
        found.append(float(shown.page.evaluate(FIRST_ROW)))
    return found


def streamed(shown: Console, profile: str = "") -> tuple[list[float], list[float]]:
    """The gaps between frames, and the long tasks, in milliseconds, while payments come at the rate."""
    shown.open()
    shown.row("order").first.wait_for()
    shown.page.wait_for_timeout(3000)
    shown.page.evaluate(WATCH)
    session = shown.page.context.new_cdp_session(shown.page)
    if profile:
        session.send("Profiler.enable")
        session.send("Profiler.start")
    per_s = RATE / EVENTS_PER_PAYMENT
    beside(lambda: pay(shown, ENTRIES, int(per_s * STREAMED_S), per_s), shown)
    if profile:
        print_profile(session.send("Profiler.stop")["profile"])
    frames = shown.page.evaluate("window.frames")
    return [after - before for before, after in zip(frames, frames[1:], strict=False)], shown.page.evaluate(
        "window.tasks"
    )


def print_profile(profile: dict) -> None:  # type: ignore[type-arg]
    spent: dict[int, int] = {}
    for node, delta in zip(profile["samples"], profile["timeDeltas"], strict=False):
        spent[node] = spent.get(node, 0) + delta
    names: dict[str, int] = {}
    for node in profile["nodes"]:
        call = node["callFrame"]
        name = f"{call['functionName'] or '(anonymous)'} {call['url'].rpartition('/')[2]}:{call['lineNumber']}"
        names[name] = names.get(name, 0) + spent.get(node["id"], 0)
    for name, us in sorted(names.items(), key=lambda one: -one[1])[:22]:
        print(f"   {us / 1000:8.1f} ms  {name}")


def at(values: list[float], part: float) -> float:
    """The value below which this part of them is."""
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
        print(
            f"first row with {ENTRIES:,} entries, one core: median {at(found, 0.5):.0f} ms, worst {max(found):.0f} ms of {PAINTS}"
        )
    os.sched_setaffinity(0, cores)
    with console() as shown:
        shown.new_sandbox()
        shown.mine("POST", "resellers/RS001/deposits", {"amount": "1000000.00"})
        beside(lambda: pay(shown, 0, 300), shown)
        gaps, tasks = streamed(shown, profile="yes" if "--profile" in sys.argv else "")
        print(
            f"stream of {RATE} events/s, {len(cores)} cores: gaps between frames median {at(gaps, 0.5):.0f} ms, "
            f"99% {at(gaps, 0.99):.0f} ms, worst {max(gaps):.0f} ms; {len(tasks)} tasks over 50 ms, worst {max(tasks, default=0):.0f} ms"
        )


if __name__ == "__main__":
    main()
