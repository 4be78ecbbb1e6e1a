"""Render docs/audit.md from the obligations of the audit."""

from simulator.audit.audit import EVIDENCE_MAX, FINDINGS_MAX
from simulator.audit.obligations import ORDER, all_clauses
from simulator.audit.registry import Clause
from tools.pages.service import anchors, written

_INTRODUCTION = f"""\
<!-- Generated from simulator/audit/obligations by `make docs`; change it there. -->

# Does your client do what the service asks of it?

The service asks much of a client that a test of one's own seldom sees: a new nonce for a repeated request, the same
refid for a payment whose answer was lost, five seconds between two questions, every page of the options, a 2xx for
a callback that comes again. The audit judges all of that from ordinary traffic: run your tests, then ask.

```sh
reseller-sim exec --audit --junit audit.xml -- pytest    # prints the findings at the end; exit code 1 for an error
reseller-sim audit                                       # the same for a server that runs; exit code 1 for any finding
curl http://127.0.0.1:8080/_sim/sandboxes/default/audit
```

Each obligation is `met`, `violated`, or `not_exercised`: the traffic had no occasion for it. One that is violated
comes with a sentence for each finding (the first {FINDINGS_MAX}), the numbers of the requests that show it (the
first {EVIDENCE_MAX}), and what to do. An `error` is about money or correctness: `exec --audit` fails for it. A
`warning` is reported, and fails `reseller-sim audit` alone.

## What the audit sees

- Nothing but what went over the wire: the journal with its answers, and the attempts of callbacks, webhooks and
  [probes](webhooks.md) with what your receivers answered. It knows neither the scenario nor the state of the
  sandbox, so it judges a client of any service alike. A number is a request's `X-Sim-Request-Id`; where `log` is
  `notifications`, it counts the attempts of the sandbox in the order of time.
- What the logs have kept. `left_out` says how many requests, callbacks and webhooks they have evicted; with any,
  "met" means "met in what is still kept". `limits.journal` and the like make the logs longer.
- Times are the sandbox's: a payment that is asked about twice with an advance of one second between was asked about
  too fast. Where the clock stands, as a manual one does between two advances, no pace is judged. The timestamps of
  signatures are compared with the clock that the service compares them with.
- An inbox is the simulator's, and answers as it was told. So the obligations of receivers are exercised by
  receivers of your own, and forgeries by `POST /_sim/sandboxes/{{sandbox}}/probes`.
- It would rather miss a sin than invent one. Two equal orders are a double payment only if nobody asked for the
  first one again after its answer was lost, or after it was asked about when it was known to be open, and left so; a
  re-query after `Failed` is none if a callback came in between; the pace of questions has half a second of tolerance
  for the network. A page of a history, a statement or another long list is forgotten if it was asked for in vain and
  never came, or if it was passed over by who had read three pages or more from the first one on; who reads a part of
  it on purpose is not accused.
- Of a request that was refused before its body came nobody knows what it was about. Of an answer that was cut in the
  middle the client knows nothing.
- It finds also what a test does on purpose. A test that sends a wrong signature or a refid twice sins; let such
  tests use a sandbox of their own that is made with `"audit": false` (`@pytest.mark.scenario(audit=False)`,
  `Simulator.sandbox(audit=False)`, in JavaScript `sandbox({{ audit: false }})`): `exec --audit` passes it over and
  counts it.

## The obligations
"""


def as_markdown() -> str:
    """Return the content of `docs/audit.md`."""
    anchor_of = anchors(written())
    parts = [_INTRODUCTION]
    for module in ORDER:
        heading = (module.__doc__ or "").partition("(SPEC")[0].partition(":")[0].partition(".")[0].strip()
        rows = [_row(one, anchor_of[one.section]) for one in all_clauses() if one.judge.__module__ == module.__name__]
        table = ["| id | section | severity | obligation | what to do |", "|---|---|---|---|---|", *rows]
        parts.append("\n".join([f"### {heading}", "", *table, ""]))
    return "\n".join(parts)


def _row(one: Clause, anchor: str) -> str:
    section = f"[SPEC {one.section}](service.md#{anchor})"
    return f"| `{one.id}` | {section} | {one.severity} | {_cell(one.title)} | {_cell(one.advice)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
