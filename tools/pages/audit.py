"""Render docs/audit.md from the obligations of the audit."""

from simulator.audit.clauses import EVIDENCE_MAX, FINDINGS_MAX, Clause
from simulator.audit.obligations import SUBJECTS, all_clauses
from tools.pages.service import anchors, written
from tools.tables import cell, markdown

_INTRODUCTION = f"""\
<!-- Generated from contracts/obligations.yaml by `make docs`; change it there. -->

# Does your client do what the service asks of it?

Find mistakes of your client that its own tests seldom see: a nonce that is used again, a second payment after a lost
answer, re-queries within five seconds, a callback that is not answered with 2xx. The audit judges ordinary traffic, so
run your tests first.

```sh
reseller-sim exec --audit --junit audit.xml -- pytest    # prints findings at the end; exit code 1 for an error
reseller-sim audit                                       # a running server; exit code 1 for any finding
curl http://127.0.0.1:8080/_sim/sandboxes/default/audit
```

Each obligation is `met`, `violated`, or `not_exercised`. A violated obligation has a sentence for each finding (the
first {FINDINGS_MAX}), the numbers of the requests that show it (the first {EVIDENCE_MAX}), and advice. An `error` is
about money or correctness, and fails `exec --audit`. A `warning` fails only `reseller-sim audit`.

## Scope

- The audit judges what went over the wire: the journal, and the attempts of callbacks, webhooks and
  [probes](webhooks.md#is-your-receiver-safe) with the receivers' answers. It knows neither scenario nor state. Numbers
  are `X-Sim-Request-Id`s; where `log` is `notifications`, they count the attempts of the sandbox.
- It judges what the logs still have. `left_out` counts evicted requests, callbacks and webhooks; `limits.journal` and
  similar keys make logs longer.
- Times are the sandbox's. When the clock stands still, the pace is not judged; otherwise it has half a second of
  tolerance. Timestamps of signatures are compared with the clock that the service uses.
- Obligations of receivers need a receiver of your own, since the inbox is part of the simulator. Forgeries and
  repetitions are judged by the messages of `reseller-sim trigger probes`.
- The audit avoids false positives. Two equal orders are a double payment only if the first had an unknown outcome and
  was left so. A client may read only a part of a history, a statement or the billers: a skipped page is a finding only
  after three pages in order. Requests that were rejected before their body was read, and truncated answers, are not
  judged.
- A test that violates an obligation on purpose is reported, too. Give it a sandbox with `"audit": false`
  (`@pytest.mark.scenario(audit=False)`, `Simulator.sandbox(audit=False)`, in JavaScript `sandbox({{ audit: false }})`):
  `exec --audit` skips and counts it.

## The obligations
"""


def as_markdown() -> str:
    """Return the content of `docs/audit.md`."""
    anchor_of = anchors(written())
    parts = [_INTRODUCTION]
    for module in SUBJECTS:
        heading = (module.__doc__ or "").partition("(SPEC")[0].partition(":")[0].partition(".")[0].strip()
        rows = [_row(one, anchor_of[one.section]) for one in all_clauses() if one.judge.__module__ == module.__name__]
        table = markdown([("id", "section", "severity", "obligation", "what to do"), *rows])
        parts.append(f"### {heading}\n\n{table}\n")
    return "\n".join(parts)


def _row(one: Clause, anchor: str) -> tuple[str, ...]:
    section = f"[SPEC {one.section}](service.md#{anchor})"
    return f"`{one.id}`", section, one.severity, cell(one.title), cell(one.advice)
