"""Client text quoted in messages: on one line, and only the beginning of long text."""

ELLIPSIS = "..."
LINE_CHARS_MAX = 300


def shortened(text: str | bytes, chars_max: int, ellipsis: str = ELLIPSIS) -> str:
    """Return the text, or its first `chars_max` characters and an ellipsis. Bytes beyond ASCII are escaped."""
    if isinstance(text, bytes):
        text = text.decode("ascii", "backslashreplace")
    return text if len(text) <= chars_max else text[:chars_max] + ellipsis


def one_line(text: str, length_max: int = LINE_CHARS_MAX) -> str:
    """Return a text as one line for a terminal: unprintable characters are escaped, and long text is cut."""
    text = whole_line(text if text.isprintable() else text[:length_max])
    return text if len(text) <= length_max else text[: length_max - 1] + "…"


def whole_line(value: object) -> str:
    """Return a value as one line for a terminal, uncut."""
    text = str(value)
    return text if text.isprintable() else "".join(one if one.isprintable() else _escaped(one) for one in text)


def _escaped(char: str) -> str:
    if "\udc80" <= char <= "\udcff":  # a byte of a file name that is not UTF-8
        char = chr(ord(char) - 0xDC00)
    return char.encode("unicode_escape").decode("ascii")
