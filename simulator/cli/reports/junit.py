"""JUnit XML, in the shape that CI servers read: testsuites, testsuite, testcase, failure."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from simulator.cli.output import one_line, printable
from simulator.cli.reports.cases import Case, Suite

_NOT_IN_XML = re.compile("[\ufffe\uffff]")  # the control characters are escaped as everywhere


def junit(title: str, suites: Sequence[Suite]) -> bytes:
    """The document. Control characters, which XML cannot hold, are written as their escapes."""
    tests, failures = sum(len(one.cases) for one in suites), sum(one.failures for one in suites)
    root = ET.Element("testsuites", _counts(title, tests, failures, sum(one.skipped for one in suites)))
    for suite in suites:
        part = ET.SubElement(root, "testsuite", _counts(suite.name, len(suite.cases), suite.failures, suite.skipped))
        for case in suite.cases:
            _add(part, suite, case)
    ET.indent(root)
    document: bytes = ET.tostring(root, "utf-8", xml_declaration=True)
    return document + b"\n"


def _counts(name: str, tests: int, failures: int, skipped: int) -> dict[str, str]:
    return {
        "name": _line(name),
        "tests": str(tests),
        "failures": str(failures),
        "errors": "0",
        "skipped": str(skipped),
        "time": "0",
    }


def _add(part: ET.Element, suite: Suite, case: Case) -> None:
    about = {"name": _line(case.name), "classname": _line(suite.name), "time": "0"}
    if case.file:
        about["file"] = _line(case.file)
    if case.line:
        about["line"] = str(case.line)
    element = ET.SubElement(part, "testcase", about)
    if case.skipped:
        ET.SubElement(element, "skipped", {"message": _line(case.skipped)})
    if not case.ok:
        failure = ET.SubElement(element, "failure", {"message": _line(case.message), "type": _line(case.code)})
        failure.text = _text("\n".join((case.message, *case.details)))


def _line(text: str) -> str:
    return _NOT_IN_XML.sub(_escaped, one_line(text))


def _text(text: str) -> str:
    return _NOT_IN_XML.sub(_escaped, printable(text))


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
