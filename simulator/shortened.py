"""What a client sent as messages quote it: only its beginning when it is long."""

ELLIPSIS = "..."


def shortened(text: str | bytes, chars_max: int, ellipsis: str = ELLIPSIS) -> str:
    """The text, or its first `chars_max` characters and an ellipsis. Of bytes, those beyond ASCII are escaped."""
    if isinstance(text, bytes):
        text = text.decode("ascii", "backslashreplace")
    return text if len(text) <= chars_max else text[:chars_max] + ellipsis
