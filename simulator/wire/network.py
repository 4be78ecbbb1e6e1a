"""Network status of a product (SPEC 2.7)."""

from datetime import datetime
from typing import Any

from simulator.domain.model.catalog import Product
from simulator.domain.model.network import NetworkStatus
from simulator.wire.timestamps import day_first


def network_status(product: Product, status: NetworkStatus, now: datetime) -> dict[str, Any]:
    """The body of a 200."""
    return {
        "data": {
            "product_code": product.code,
            "product_name": product.name,
            "product_img": product.image_url,
            "network_status": status.value,
        },
        "metadata": {"status_code": 200, "last_updated": day_first(now)},
    }
