"""Render the table of known mistakes in docs/debug-a-signature.md."""

from simulator.auth.autopsy.search import MISTAKES
from simulator.contract.files import data_dir

PAGE = data_dir("contracts").parent / "docs" / "debug-a-signature.md"
BEGIN = "<!-- Generated from simulator/auth/autopsy by `make docs`; change it there. -->\n"
END = "<!-- End of what is generated. -->\n"
_TITLES = {
    "timestamp": "In the timestamp",
    "nonce": "In the nonce",
    "method": "In the method",
    "query": "In the query",
    "body hash": "In the body hash",
    "string": "In how the string is put together",
    "key": "In the key of the HMAC",
    "algorithm": "In the algorithm",
    "encoding": "In how the signature is written",
    "prefix": "In its prefix",
}


def as_markdown() -> str:
    """Return the content of the page."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    return before + BEGIN + "".join(map(_section, _TITLES)) + "\n" + END + after


def _section(place: str) -> str:
    rows = [
        f"| `{one.id}` | {_cell(one.does.replace('{}', '…'))} | {_cell(one.fix)} |\n"
        for one in MISTAKES
        if one.place == place
    ]
    return f"\n### {_TITLES[place]}\n\n| id | the client | what to do |\n|---|---|---|\n{''.join(rows)}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "\\<")
