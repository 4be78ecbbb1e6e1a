"""`reseller-sim health`: whether a simulator answers, and which."""

from typing import Any

from simulator.cli.control import Control
from simulator.cli.flags import json_flag, running_flags, verb
from simulator.cli.output import echo_value
from simulator.cli.tables import print_line, wants_json


@verb("health")
@running_flags
@json_flag(help="Print the answer of the control API, as in a pipe.")
def command(json: bool, **running: Any) -> None:
    """Say whether a simulator answers.

    It asks for what every simulator answers without a token, so it can wait for a start in a script or be a container's
    health check. Exit code 3 means that no simulator is there.

    \b
    Examples:
      reseller-sim health
      reseller-sim health --url http://simulator:8080
      until reseller-sim health; do sleep 1; done
    """
    control = Control("reseller-sim health", **running)
    answer = control.get("/health", "health-answer", is_root=True)
    if wants_json(json):
        echo_value(answer)
    else:
        print_line(f"reseller-sim {answer['version']} answers at {control.base}")
