"""The environment variables through which a command finds its simulator."""

import os
from typing import TYPE_CHECKING

from simulator.control import render
from simulator.options import CONTROL_PATH
from simulator.runtime.sandboxes import DEFAULT

if TYPE_CHECKING:
    from simulator.app import App


def environment(app: "App", url: str) -> dict[str, str]:
    """Return this process's environment with the simulator's variables set. Variables without a value are removed, so
    that a test never uses credentials of another service. `url` is where the server listens."""
    sandbox, token = app.sandboxes.get(DEFAULT), app.options.control_token
    resellers = [render.reseller(reseller) for reseller in sandbox.core.state.resellers.values()]
    first = resellers[0] if resellers else {}
    wanted = {
        "RESELLER_BASE_URL": url,
        "RESELLER_API_KEY": first.get("api_key"),
        "RESELLER_API_SECRET": first.get("api_secret"),
        "RESELLER_USERNAME": first.get("username"),
        "RESELLER_PASSWORD": first.get("password"),
        "RESELLER_SANDBOX": sandbox.id,
        "RESELLER_SIM_URL": url + CONTROL_PATH,
        "RESELLER_SIM_KEY": first.get("api_key"),
        "RESELLER_SIM_SECRET": first.get("api_secret"),
        "RESELLER_SIM_TOKEN": token,
        "RESELLER_SIM_CONTROL_TOKEN": token,
    }
    kept = {name: value for name, value in os.environ.items() if name not in wanted}
    return kept | {name: value for name, value in wanted.items() if value is not None}
