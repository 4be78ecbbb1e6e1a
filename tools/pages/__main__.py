"""`make docs`: the generated files, and the function that renders each."""

from collections.abc import Callable, Mapping

from simulator.contract.files import data_dir
from tools.pages import (
    assume_section,
    assumptions,
    audit,
    contract_examples,
    mistakes,
    reliability,
    scenario_reference,
    service,
    tape,
)

ROOT = data_dir("contracts").parent

# In this order: the reference is rendered from the schema. Of the schema only one section is generated,
# of the service's page and of those about signatures, the tape and reliability only what stands between their markers.
GENERATED: Mapping[str, Callable[[], str]] = {
    "contracts/scenario.schema.json": assume_section.as_json,
    "contracts/examples.json": contract_examples.as_json,
    "docs/assumptions.md": assumptions.as_markdown,
    "docs/scenario-reference.md": scenario_reference.as_markdown,
    "docs/service.md": service.as_markdown,
    "docs/audit.md": audit.as_markdown,
    "docs/debug-a-signature.md": mistakes.as_markdown,
    "docs/tape.md": tape.as_markdown,
    "docs/reliability.md": reliability.as_markdown,
}


def main() -> None:
    for name, content in GENERATED.items():
        (ROOT / name).write_text(content(), "utf-8")


if __name__ == "__main__":
    main()
