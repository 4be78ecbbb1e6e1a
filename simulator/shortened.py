"""Texts of a request as a diagnosis quotes them."""


def shortened(text: str, chars_max: int) -> str:
    """The text, or its beginning and three dots."""
    return text if len(text) <= chars_max else text[:chars_max] + "..."
