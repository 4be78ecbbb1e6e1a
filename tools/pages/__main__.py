"""`make docs`: the generated files, and the function that renders each."""

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial

from simulator.contract.files import data_dir
from simulator.contract.openapi import CONTROL, OPENAPI, PROXY
from tools.pages import (
    assume_section,
    assumptions,
    audit,
    bundle,
    command_line,
    contract_examples,
    control_api,
    errors,
    metrics,
    mistakes,
    postman,
    reliability,
    scenario_reference,
    service,
    tape,
)

ROOT = data_dir("contracts").parent

# The reference is rendered from the schema, so the schema comes first; the served documents have the examples. In the
# schema, one section is generated; in the pages of the service, the control API, signatures, the tape and reliability,
# only the text between their markers.
GENERATED: Mapping[str, Callable[[], str]] = {
    "contracts/scenario.schema.json": assume_section.as_json,
    "contracts/examples.json": contract_examples.as_json,
    **{f"contracts/served/{name}.json": partial(bundle.as_json, name) for name in (OPENAPI, CONTROL, PROXY)},
    **{
        f"contracts/served/{name}.postman_collection.json": partial(postman.as_json, name)
        for name in (OPENAPI, CONTROL)
    },
    "docs/assumptions.md": assumptions.as_markdown,
    "docs/scenario-reference.md": scenario_reference.as_markdown,
    "docs/cli.md": command_line.as_markdown,
    "docs/control-api.md": control_api.as_markdown,
    "docs/service.md": service.as_markdown,
    "docs/audit.md": audit.as_markdown,
    "docs/debug-a-signature.md": mistakes.as_markdown,
    "docs/metrics.md": metrics.as_markdown,
    "docs/errors.md": errors.as_markdown,
    "docs/tape.md": tape.as_markdown,
    "docs/reliability.md": reliability.as_markdown,
}


ROUNDS_MAX = 3


def main(rounds: int = 1) -> None:
    """Write the files until nothing changes. The examples have the heads of the served documents, and the documents
    have the examples. A new process generates them again, since this process has read the old files into its caches."""
    changes = 0
    for name, content in GENERATED.items():
        path, text = ROOT / name, content()
        changes += not path.exists() or path.read_text("utf-8") != text
        path.write_text(text, "utf-8")
    if changes and rounds < ROUNDS_MAX:
        os.execv(sys.executable, [sys.executable, "-m", "tools.pages", str(rounds + 1)])  # noqa: S606  # no shell


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
