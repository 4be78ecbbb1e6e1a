"""Why a product is not available."""

from simulator.domain.model.catalog import Product
from simulator.domain.model.details import Detail, What, detail, near
from simulator.domain.state import State


def not_on_sale(state: State, product: Product | None, code: str, *, to_buy: bool = True) -> Detail:
    """The product does not exist or is inactive, or its code is blank. Hidden products are not suggested, and none that
    is inactive where one is `to_buy`."""
    if product is not None:
        return detail(What.INACTIVE_PRODUCT, product=product.code)
    if not code.strip():
        return detail(What.BLANK_PRODUCT)
    listed = (each for each in state.catalog.products.values() if not each.is_hidden)
    likely = near(code, (each.code for each in listed if each.is_active or not to_buy))
    return detail(What.NO_PRODUCT, product=code, near=likely)
