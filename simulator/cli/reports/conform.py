"""What `conform` writes: JUnit XML, JSON, an HTML page."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simulator import __version__
from simulator.cli.flags import CannotStart
from simulator.cli.output import one_line, print_to_stderr, printable_json
from simulator.cli.reports.cases import Case, Suite
from simulator.cli.reports.junit import junit

if TYPE_CHECKING:
    from simulator.staging.conform.findings import Report, Result


@dataclass(frozen=True, slots=True)
class ConformFiles:
    """The files to be written, as the flags say. `title` is the command's name."""

    title: str
    junit: Path | None
    json: Path | None
    html: Path | None

    def refuse_unwritable(self) -> None:
        """Raise `CannotStart` for a file that cannot be written, before anything is asked."""
        for path in filter(None, (self.junit, self.json, self.html)):
            try:
                file = path.resolve()
                is_new = not file.exists()
                file.open("ab").close()
                if is_new:  # the service may not answer
                    file.unlink()
            except OSError as error:
                raise CannotStart(self._reason(path, error)) from None

    def write(self, made: "Report") -> bool:
        """Write them; False when one could not be written, which is reported."""
        from simulator.cli.reports.conform_page import as_html

        writers = ((self.junit, self._as_junit), (self.json, _as_json), (self.html, as_html))
        written = [self._is_written(path, make(made)) for path, make in writers if path is not None]
        return all(written)

    def _is_written(self, path: Path, content: bytes) -> bool:
        try:
            path.write_bytes(content)
        except OSError as error:
            print_to_stderr(self._reason(path, error))
            return False
        return True

    def _reason(self, path: Path, error: OSError) -> str:
        return one_line(f"{self.title}: {path} cannot be written: {error.strerror}")

    def _as_junit(self, made: "Report") -> bytes:
        """A suite for each section of SPEC, in the order in which they were looked at."""
        sections = dict.fromkeys(result.section for result in made.results)
        cases = {section: tuple(_case(one) for one in made.results if one.section == section) for section in sections}
        return junit(self.title, [Suite(f"SPEC {section}", found) for section, found in cases.items()])


def _case(result: "Result") -> Case:
    texts = [str(departure) for departure in result.departures]
    return Case(
        name=f"{result.id}: {result.title}",
        ok=not texts,
        message=texts[0] if texts else "",
        details=tuple(texts[1:]),
        code=result.id,
        skipped=result.why,
    )


def _as_json(report: "Report") -> bytes:
    """The whole report; its keys are `version` and those of `Report`, and `assume` has what was learned."""
    made = {
        "version": __version__,
        "target": report.target,
        "requests": report.requests,
        "spent": report.spent,
        "counts": {name.replace(" ", "_"): len(report.of(name)) for name in ("passed", "departs", "not exercised")},
        "results": [asdict(result) for result in report.results],
        "assume": {one.knob: {"value": one.value, "evidence": one.evidence} for one in report.learned},
        "unlearned": report.unlearned,
    }
    return (printable_json(json.dumps(made, indent=2)) + "\n").encode()
