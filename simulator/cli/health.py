"""`reseller-sim health`: whether a simulator answers, and which."""

from time import monotonic, sleep
from typing import Any

from simulator.cli.control import NOT_READY, Control
from simulator.cli.errors import CannotStart, Refused
from simulator.cli.flags import json_flag, option, own_option, running_flags, verb
from simulator.cli.output import echo_value
from simulator.cli.spans import Span
from simulator.cli.tables import print_line

PAUSE_S = 0.05
WAIT_MAX_S = 3600.0
HEALTH, READY = ("/health", "health-answer"), ("/ready", "ready-answer")


@verb("health")
@own_option(
    "--wait",
    "wait_s",
    metavar="DURATION",
    type=Span(0, WAIT_MAX_S),
    default=0.0,
    help="Ask until one answers, for so long at most.",
)
@own_option("--ready", is_flag=True, help="Say whether requests may be sent, and if not why.")
@option("--tls-cert", metavar="FILE", help="The simulator's own certificate, whatever name it has.")
@running_flags
@json_flag(help="Print the answer of the control API.")
def command(wait_s: float, ready: bool, tls_cert: str | None, json: bool, **running: Any) -> None:
    """Say whether a simulator answers.

    It asks for what every simulator answers without a token, so it can be a container's health check, or wait in a
    script until a simulator has started. Exit code 3 means that no simulator is there. With --ready exit code 1 means
    that one is there and requests may not be sent, since it starts or is about to stop. Beside a server that speaks
    TLS, --tls-cert is the file of `serve`: what answers has to have that certificate, which need not be of 127.0.0.1.

    \b
    Examples:
      reseller-sim health
      reseller-sim health --url http://simulator:8080
      reseller-sim health --wait 30s
      reseller-sim health --ready --wait 30s
      reseller-sim health --url https://127.0.0.1:8443 --tls-cert cert.pem
    """
    control = Control("reseller-sim health", certificate=tls_cert, **running)
    answer = _asked(control, READY if ready else HEALTH, monotonic() + wait_s)
    if json:
        echo_value(answer)
    else:
        does = "is ready" if ready else "answers"
        print_line(f"reseller-sim {answer['version']} {does} at {control.base}")


def _asked(control: Control, question: tuple[str, str], until: float) -> Any:
    """The answer, or why there is none at this time of the monotonic clock."""
    while True:
        try:
            return control.get(*question, is_root=True)
        except (CannotStart, Refused) as no:
            if monotonic() >= until or (isinstance(no, Refused) and no.code not in NOT_READY):
                raise
        sleep(PAUSE_S)
