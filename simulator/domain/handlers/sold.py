"""Why a product is not available."""

from simulator.domain.model.catalog import Product
from simulator.domain.model.details import Detail, What, detail, near
from simulator.domain.state import State


def not_on_sale(state: State, product: Product | None, code: str) -> Detail:
    """The product does not exist or is inactive, or its code is blank; one that nobody can buy is not suggested."""
    if product is not None:
        return detail(What.INACTIVE_PRODUCT, product=product.code)
    if not code.strip():
        return detail(What.BLANK_PRODUCT)
    shown = (each.code for each in state.catalog.products.values() if each.is_active and not each.is_hidden)
    return detail(What.NO_PRODUCT, product=code, near=near(code, shown))
