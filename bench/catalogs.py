"""Scenarios with as many products as one likes, for the size of a catalog is most of what an answer with it costs."""

import json
from pathlib import Path
from typing import Any

LISTED_BY_DEFAULT = 13  # what the bundled scenario `default` lists
IN_CATEGORY = 20


def scenario_of(products: int) -> dict[str, Any]:
    """The default scenario with more of its kind, so that its catalog lists so many, and no limit of requests."""
    codes = [f"MADE{number:04d}" for number in range(LISTED_BY_DEFAULT, products)]
    categories = [
        {"id": f"made-{at}", "name": f"Made {at}", "product_codes": codes[at : at + IN_CATEGORY]}
        for at in range(0, len(codes), IN_CATEGORY)
    ]
    groups = [{"id": "made", "name": "Made for the bench", "categories": categories}] if categories else []
    return {
        "scenario": f"catalog-{products}",
        "extends": "default",
        "limits": {"requests_per_interval": None},
        "catalog": {"groups": groups, "products": [_product(code) for code in codes]},
    }


def write_scenario(products: int, folder: Path) -> Path:
    """The same as a file; JSON is YAML."""
    path = folder / f"catalog-{products}.yaml"
    path.write_text(json.dumps(scenario_of(products)))
    return path


def _product(code: str) -> dict[str, Any]:
    phone = {
        "id": "phone",
        "role": "account",
        "input_mode": "tel",
        "label": "Mobile number",
        "placeholder": "0123456789",
        "validation": {"pattern": "^01[0-9]{8,9}$", "message": "A mobile number is 01 and 8 or 9 digits more"},
    }
    amount = {"id": "amount", "role": "pricing", "type": "select", "label": "Amount", "options": [5, 10, 20, 30, 50]}
    return {
        "code": code,
        "name": f"Mobile Reload {code}",
        "image_url": f"https://images.example.com/products/{code.lower()}.png",
        "processing_time": "instant",
        "denomination": "5,10,20,30,50",
        "discount": {"type": "percentage", "value": 2.5},
        "fields": [phone, amount],
        "fulfilled": {"sn": "{digits:16}"},
    }
