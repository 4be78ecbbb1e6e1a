"""What a client may send to the default scenario: its first reseller's credentials, and its first product."""

from simulator.scenario.library import load_scenario


def known() -> dict[str, str]:
    """Values of a collection's variables by their names (`collections.plan`)."""
    scenario = load_scenario("default")
    reseller = scenario.resellers[0]
    key = next(one for one in reseller.keys if one.state == "active")
    product = next(iter(scenario.catalog.products.values()))
    assert product.account is not None
    assert product.pricing is not None
    assert product.denomination is not None
    group = scenario.catalog.groups[0]
    return {
        "api_key": key.key,
        "api_secret": key.secret,
        "username": reseller.users[0].username,
        "password": reseller.users[0].password,
        "product": product.code,
        "account": product.account.placeholder,
        "amount": product.denomination.split(",")[0],
        "field_id": product.pricing.id,
        "callback_url": reseller.callback.url,
        "callback_method": reseller.callback.method,
        "control_token": "",
        "reseller_code": reseller.code,
        "product_code": product.code,
        "category_id": group.categories[0].id,
        "group_id": group.id,
        "inbox_name": reseller.callback.url.removeprefix("inbox:"),
        "sandbox": "default",
        "request_n": "1",
    }
