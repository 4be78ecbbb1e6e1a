"""The audit of dependencies passes for what was audited alone, and says what was not."""

import json

import pytest

from tools.dependency_audit import audited, verdict

CLEAN = {"name": "click", "version": "8.5.1", "vulns": []}
SKIPPED = {"name": "pyyaml", "skip_reason": "not found"}
BAD = {"name": "yarl", "version": "1.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"]}, {"id": "PYSEC-2"}]}


@pytest.mark.parametrize(
    ("packages", "lines", "status"),
    [
        ([CLEAN], ["audited: 1 packages, 0 known vulnerabilities"], 0),
        (
            [CLEAN, SKIPPED],
            [
                "audited: 1 packages, 0 known vulnerabilities",
                "not audited: 1 packages that the advisory database does not answer for (pyyaml)",
            ],
            0,
        ),
        (
            [SKIPPED] * 4,
            ["not audited: 4 packages that the advisory database does not answer for (pyyaml, pyyaml, pyyaml, ...)"],
            0,
        ),
        ([], ["not audited: 0 packages that the advisory database does not answer for ()"], 0),
        (
            [CLEAN, BAD],
            [
                "yarl 1.0: PYSEC-1, fixed in 1.1",
                "yarl 1.0: PYSEC-2, fixed in no version",
                "audited: 2 packages, 2 known vulnerabilities",
            ],
            1,
        ),
    ],
)
def test_a_report_fails_for_a_vulnerability_and_names_what_was_not_audited(
    packages: list[object], lines: list[str], status: int
) -> None:
    assert verdict(json.dumps({"dependencies": packages}), "") == (lines, status)


@pytest.mark.parametrize(
    ("report", "errors", "line"),
    [
        ("", "a\nERROR:pip_audit: connection failed\n", "not audited: ERROR:pip_audit: connection failed"),
        ("", "", "not audited: pip-audit printed no report"),
        ("[]", "", "not audited: pip-audit printed no report"),
        ("{}", "x", "not audited: x"),
    ],
)
def test_without_a_report_nothing_was_audited(report: str, errors: str, line: str) -> None:
    assert verdict(report, errors) == ([line], 0)


def test_an_audit_that_cannot_be_installed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.dependency_audit.find_spec", lambda name: None)
    monkeypatch.setattr("tools.dependency_audit._run", lambda module: None)
    assert audited() == (["not audited: pip-audit cannot be installed"], 0)


def test_an_audit_that_does_not_end_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.dependency_audit.find_spec", lambda name: object())
    monkeypatch.setattr("tools.dependency_audit._run", lambda module: None)
    assert audited() == (["not audited: no result within 120 seconds"], 0)
