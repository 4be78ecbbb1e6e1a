"""No callback or webhook goes to a control API, however its path is spelled; inboxes are the exception."""

import pytest

from simulator.http_client.targets import leads_to_control_api, reason_to_refuse

HOSTS = (
    "127.0.0.1:8080",
    "localhost:8080",
    "LOCALHOST:8080",
    "127.1:8080",
    "2130706433:8080",
    "0x7f.0.0.1:8080",
    "[::1]:8080",
    "[::ffff:127.0.0.1]:8080",
    "0.0.0.0:8080",
    "192.168.1.20:8080",
    "build-machine.example:8080",
    "sim.example",
)
CONTROL_PATHS = (
    "/_sim",
    "/_sim/",
    "/_sim/sandboxes/default/reset",
    "/_SIM/sandboxes/default/reset",
    "//_sim/sandboxes/default/reset",
    "/_sim//sandboxes/default/reset",
    "/./_sim/sandboxes/default/reset",
    "/x/../_sim/sandboxes/default/reset",
    "/s/../_sim/sandboxes/default/reset",
    "/s/default/../../_sim/sandboxes/default/reset",
    "/%5fsim/sandboxes/default/reset",
    "/%5Fsim/sandboxes/default/reset",
    "/%255fsim/sandboxes/default/reset",
    "/_s%69m/sandboxes/default/reset",
    "/x%2f_sim/sandboxes/default/reset",
    "/%2e%2e/_sim/sandboxes/default/reset",
    "/x%5c_sim/sandboxes/default/reset",
    "/_sim;x=1/sandboxes/default/reset",
    "/_sim%20/sandboxes/default/reset",
    "/tools/sim/_sim/sandboxes/default/reset",
    "/_sim/sandboxes/default/reset?a=/_sim/inbox/default/mine",
    "/_sim/inbox",
    "/_sim/inbox/default",
    "/_sim/inbox/../sandboxes/default/reset",
    "/_sim/inbox/default/../../sandboxes/default/reset",
    "/_sim/inbox/default/%2e%2e/%2E%2E/sandboxes/default/reset",
    "/_sim/inbox/default/..%2f..%2fsandboxes%2fdefault%2freset",
    "/_sim/inbox/../../",
    "/_sim/inbox//mine",
    "/_SIM/inbox/default/mine",
    "/_sim/callbacks/../sandboxes",
    "/_sim/callbacks/%2e%2e/sandboxes",
    "/_sim%2finbox/default/mine",
    "/%25252525252525255fsim/sandboxes",
)
OTHER_PATHS = (
    "",
    "/",
    "/callbacks",
    "/callbacks?next=/_sim/sandboxes",
    "/callbacks#/_sim/",
    "/my_sim/callbacks",
    "/_simulator/callbacks",
    "/a%20b/c;d/../e",
    "/_sim/inbox/default/mine",
    "/_sim/inbox/default/mine/",
    "/_sim/inbox/default/mine?x=1",
    "/tools/sim/_sim/inbox/default/mine",
    "/_sim/callbacks",
    "/_sim/callbacks/orders",
)


@pytest.mark.parametrize("path", CONTROL_PATHS)
def test_a_path_of_a_control_api_is_refused(path: str) -> None:
    assert leads_to_control_api(path.partition("?")[0])
    reason = reason_to_refuse(f"http://127.0.0.1:8080{path}")
    assert reason == "the path leads to the control API of a simulator; below /_sim only inbox/SANDBOX/NAME is called"


@pytest.mark.parametrize("host", HOSTS)
def test_it_is_refused_at_every_host(host: str) -> None:
    assert "control API" in (reason_to_refuse(f"http://{host}/_sim/sandboxes/default/reset") or "")
    assert reason_to_refuse(f"http://{host}/_sim/inbox/default/mine") is None


@pytest.mark.parametrize("path", OTHER_PATHS)
def test_other_paths_are_called(path: str) -> None:
    assert reason_to_refuse(f"http://127.0.0.1:8080{path}") is None
