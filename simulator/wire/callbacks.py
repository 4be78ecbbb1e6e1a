"""The configuration of callbacks (SPEC 2.8)."""

from datetime import datetime
from typing import Any

from simulator.domain.model.callbacks import CallbackConfig
from simulator.wire.timestamps import day_first


def configuration(config: CallbackConfig, now: datetime) -> dict[str, Any]:
    """The callback configuration; `last_updated` is now when it was never set."""
    return {
        "data": {"Status": "Success", "CallbackUrl": config.url, "Method": config.method},
        "@metadata": {"status_code": 200, "last_updated": day_first(config.updated or now)},
    }
