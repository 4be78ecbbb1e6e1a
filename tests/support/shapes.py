"""Values that conform to the schemas of a payment and of the catalog."""

from typing import Any

PAYMENT = {
    "statusCode": 20,
    "status": "Succesful",
    "account": "0123456789",
    "product": "P",
    "productName": "Product",
    "amount": 10,
    "sn": "SN-1",
    "pin": "",
    "expiry": "20271231",
    "cost": 9.7,
    "balance": 4990.3,
    "remarks": "",
    "refid": "ref-1",
    "timestamp": "2026-11-21 12:00:05",
    "note": "",
    "voucherlink": "",
}


def product(**changes: Any) -> dict[str, Any]:
    return {
        "code": "P",
        "name": "Product",
        "note": None,
        "image_url": "https://example.com/p.png",
        "processing_time": "instant",
        "is_active": True,
        "denomination": "5,10",
        "denomination_currency": "MYR",
        "denomination_unit_price": 1,
        "fields": [field(), field(id="plan", type="select", role="pricing", data_source=SOURCE)],
        "fulfillment": {
            "account": {"from_field": "phone"},
            "amount": {"from_field": "plan", "path": "denomination"},
            "extras": {"subproduct_code": {"from_field": "plan", "path": "code", "omit_if_empty": True}},
        },
        "pricing": {
            "unit_price": "0.97",
            "currency": "MYR",
            "discount": {"type": "percentage", "value": "3%"},
            "price_adjustment": {"type": "fixed", "value": 0.5, "currency": "MYR"},
            "has_loss_risk": False,
        },
        "min_amount": None,
        "max_amount": {"amount": "100.00", "currency": "MYR"},
    } | changes


def field(**changes: Any) -> dict[str, Any]:
    return {
        "id": "phone",
        "type": "text",
        "input_mode": "tel",
        "label": "Phone",
        "placeholder": "",
        "required": True,
        "order": 1,
        "role": "account",
        "validation": {"pattern": "^01", "message": "begins with 01"},
    } | changes


SOURCE = {
    "type": "dynamic",
    "endpoint": "/options",
    "depends_on": ["phone"],
    "params": {"product_code": {"static": "P"}, "account_number": {"from_field": "phone"}},
}


def catalog(**products: Any) -> dict[str, Any]:
    category = {"id": "c", "name": "C", "product_codes": ["P"]}
    group = {"id": "g", "name": "G", "icon_url": "https://example.com/g.png", "categories": [category]}
    return {"last_updated": "2026-11-21T04:00:00.000Z", "tree": {"groups": [group]}, "products": products}
