"""A run as JSON, as JUnit XML, and as one HTML page that needs nothing else."""

import json
import re
from dataclasses import asdict
from html import escape
from xml.etree import ElementTree

from simulator.conform.findings import Report, Result
from simulator.conform.reports.block import assume_block

SUITE = "reseller-sim conform"
_NOT_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: .3rem .6rem; }
tr { border-top: 1px solid #ddd; } .departs td:first-child { color: #b00020; font-weight: bold; }
.passed td:first-child { color: #0a6b2d; } .not-exercised { color: #777; }
ul { margin: .2rem 0; } pre { background: #f4f4f4; padding: 1rem; overflow: auto; }
"""


def as_json(report: Report) -> str:
    """The whole report; its keys are those of `Report`, and `assume` has what was learned."""
    made = {
        "target": report.target,
        "requests": report.requests,
        "spent": report.spent,
        "counts": {name.replace(" ", "_"): len(report.of(name)) for name in ("passed", "departs", "not exercised")},
        "results": [asdict(result) for result in report.results],
        "assume": {one.knob: {"value": one.value, "evidence": one.evidence} for one in report.learned},
        "unlearned": report.unlearned,
    }
    return json.dumps(made, indent=2, ensure_ascii=True) + "\n"


def as_junit(report: Report) -> str:
    """One test suite: a departure is a failure, what was not exercised is skipped."""
    counts = {
        "tests": len(report.results),
        "failures": len(report.departed),
        "skipped": len(report.of("not exercised")),
    }
    attributes = {name: str(count) for name, count in counts.items()}
    suite = ElementTree.Element("testsuite", {"name": SUITE, "errors": "0", **attributes})
    for result in report.results:
        _add_case(suite, result)
    suites = ElementTree.Element("testsuites", {"name": SUITE, "errors": "0", **attributes})
    suites.append(suite)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=False) + "\n"


def _add_case(suite: ElementTree.Element, result: Result) -> None:
    case = ElementTree.SubElement(
        suite,
        "testcase",
        {
            "classname": f"SPEC {result.section}",
            "name": _xml(f"{result.id}: {result.title}"),
            "time": f"{result.duration_s:.3f}",
        },
    )
    if result.outcome == "departs":
        failure = ElementTree.SubElement(case, "failure", {"message": _xml(str(result.departures[0]))})
        failure.text = _xml("\n".join(map(str, result.departures)))
    elif result.outcome == "not exercised":
        ElementTree.SubElement(case, "skipped", {"message": _xml(result.why)})
    if result.notes:
        ElementTree.SubElement(case, "system-out").text = _xml("\n".join(result.notes))


def _xml(text: str) -> str:
    """A text without the characters that XML cannot have."""
    return _NOT_XML.sub("\ufffd", text)


def as_html(report: Report) -> str:
    """One page, everything escaped, without scripts and without anything from elsewhere."""
    rows = "\n".join(map(_row, sorted(report.results, key=lambda one: one.outcome != "departs")))
    block = assume_block(report.learned)
    counts = f"{len(report.of('passed'))} passed, {len(report.departed)} departed, "
    counts += f"{len(report.of('not exercised'))} not exercised, with {report.requests} requests"
    learned = f"<h2>For a scenario</h2>\n<pre>{escape(block)}</pre>" if block else ""
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape(SUITE)}</title>
<style>{_STYLE}</style>
<h1>{escape(report.target)}</h1>
<p>{escape(counts)}</p>
<table>
<tr><th>outcome<th>section<th>check
{rows}
</table>
{learned}
</html>
"""


def _row(result: Result) -> str:
    texts = [*map(str, result.departures), *([result.why] if result.why else []), *result.notes]
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    more = f"<ul>{items}</ul>" if items else ""
    name = result.outcome.replace(" ", "-")
    what = f"<b>{escape(result.id)}</b>: {escape(result.title)}{more}"
    return f'<tr class="{name}"><td>{escape(result.outcome)}<td>{escape(result.section)}<td>{what}'
