"""`reseller-sim openapi`: the contract as one self-contained document."""

import json as json_module
from typing import Any

from simulator.cli.flags import json_flag, option, verb
from simulator.cli.output import echo, echo_json


@verb("openapi")
@option("--control", is_flag=True, help="The control API's contract instead of the reseller API's.")
@json_flag(help="JSON instead of YAML.")
def command(control: bool, json: bool) -> None:
    """Print the contract as one OpenAPI 3.1 document.

    The simulator validates requests against this contract. All schemas are included, so generators, mock servers and
    contract tests can use the document as it is.

    \b
    Examples:
      reseller-sim openapi > openapi.yaml
      reseller-sim openapi --json | jq '.paths | keys'
      reseller-sim openapi --control
    """
    from simulator.contract.openapi import CONTROL, OPENAPI, bundled

    document = bundled(CONTROL if control else OPENAPI)
    if json:
        echo_json(json_module.dumps(document, ensure_ascii=False))
    else:
        echo(_yaml(document), nl=False)


def _yaml(document: dict[str, Any]) -> str:
    import yaml

    class Plain(yaml.SafeDumper):
        """Writes out whatever is shared: an alias saves a line and costs every reader."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

    return yaml.dump(document, Dumper=Plain, sort_keys=False, allow_unicode=True, width=120)
