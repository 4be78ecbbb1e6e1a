"""JUnit XML, in the shape that CI servers read: testsuites, testsuite, testcase, failure or error."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from xml.etree import ElementTree as ET

from simulator import __version__
from simulator.cli.output import one_line, printable
from simulator.cli.reports.cases import Case, Run, Suite

_NOT_IN_XML = re.compile("[\ufffe\uffff]")  # the control characters are escaped as everywhere


def junit(title: str, suites: Sequence[Suite], run: Run | None = None) -> bytes:
    """The document; `run`, or the version alone, is in the properties of each suite. Control characters, which XML
    cannot hold, are written as their escapes."""
    root = ET.Element("testsuites", _counts(title, suites))
    for suite in suites:
        part = ET.SubElement(root, "testsuite", _counts(suite.name, [suite]))
        _add_properties(part, asdict(run) if run is not None else {"version": __version__})
        for case in suite.cases:
            _add(part, suite, case)
    ET.indent(root)
    document: bytes = ET.tostring(root, "utf-8", xml_declaration=True)
    return document + b"\n"


def _counts(name: str, suites: Sequence[Suite]) -> dict[str, str]:
    errors = sum(one.errors for one in suites)
    return {
        "name": _line(name),
        "tests": str(sum(len(one.cases) for one in suites)),
        "failures": str(sum(one.failures for one in suites) - errors),
        "errors": str(errors),
        "skipped": str(sum(one.skipped for one in suites)),
        "time": _seconds(sum(case.duration_s for one in suites for case in one.cases)),
    }


def _seconds(duration_s: float) -> str:
    return f"{duration_s:.3f}" if duration_s else "0"


def _add_properties(part: ET.Element, values: Mapping[str, object]) -> None:
    properties = ET.SubElement(part, "properties")
    for name, value in values.items():
        ET.SubElement(properties, "property", {"name": name, "value": _line(str(value))})


def _add(part: ET.Element, suite: Suite, case: Case) -> None:
    about = {"name": _line(case.name), "classname": _line(suite.name), "time": _seconds(case.duration_s)}
    if case.file:
        about["file"] = _line(case.file)
    if case.line:
        about["line"] = str(case.line)
    element = ET.SubElement(part, "testcase", about)
    if case.skipped:
        ET.SubElement(element, "skipped", {"message": _line(case.skipped)})
    if not case.ok:
        kind = "error" if case.is_error else "failure"
        failure = ET.SubElement(element, kind, {"message": _line(case.message), "type": _line(case.code)})
        failure.text = _text("\n".join((case.message, *case.details)))


def _line(text: str) -> str:
    return _NOT_IN_XML.sub(_escaped, one_line(text))


def _text(text: str) -> str:
    return _NOT_IN_XML.sub(_escaped, printable(text))


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
