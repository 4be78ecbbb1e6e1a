"""A run of `conform` as one HTML page that needs nothing else."""

from html import escape

from simulator import __version__
from simulator.cli.output import printable
from simulator.staging.conform.findings import Report, Result, assume_block

SUITE = "reseller-sim conform"
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: .3rem .6rem; }
tr { border-top: 1px solid #ddd; } .departs td:first-child { color: #b00020; font-weight: bold; }
.passed td:first-child { color: #0a6b2d; } .not-exercised { color: #777; }
ul { margin: .2rem 0; } pre { background: #f4f4f4; padding: 1rem; overflow: auto; }
"""


def as_html(report: Report) -> bytes:
    """One page, everything escaped, without scripts and without anything from elsewhere."""
    rows = "\n".join(map(_row, sorted(report.results, key=lambda one: one.outcome != "departs")))
    block = assume_block(report.learned)
    counts = f"{len(report.of('passed'))} passed, {len(report.departed)} departed, "
    counts += f"{len(report.of('not exercised'))} not exercised, with {report.requests} requests"
    learned = f"<h2>For a scenario</h2>\n<pre>{_shown(block)}</pre>" if block else ""
    page = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{_shown(SUITE)}</title>
<style>{_STYLE}</style>
<h1>{_shown(report.target)}</h1>
<p>{_shown(f"reseller-sim {__version__}: {counts}")}</p>
<table>
<tr><th>outcome<th>section<th>check
{rows}
</table>
{learned}
</html>
"""
    return page.encode()


def _row(result: Result) -> str:
    texts = [*map(str, result.departures), *([result.why] if result.why else []), *result.notes]
    items = "".join(f"<li>{_shown(text)}</li>" for text in texts)
    more = f"<ul>{items}</ul>" if items else ""
    name = result.outcome.replace(" ", "-")
    what = f"<b>{_shown(result.id)}</b>: {_shown(result.title)}{more}"
    return f'<tr class="{name}"><td>{_shown(result.outcome)}<td>{_shown(result.section)}<td>{what}'


def _shown(text: str) -> str:
    return escape(printable(text))
