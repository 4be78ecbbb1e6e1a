"""Render the table of known mistakes in docs/debug-a-signature.md."""

from simulator.auth.autopsy.facts import Place
from simulator.auth.autopsy.mistakes import MISTAKES
from simulator.contract.files import data_dir

PAGE = data_dir("contracts").parent / "docs" / "debug-a-signature.md"
BEGIN = "<!-- Generated from simulator/auth/autopsy by `make docs`; change it there. -->\n"
END = "<!-- End of what is generated. -->\n"
_TITLES = {
    Place.TIMESTAMP: "In the timestamp",
    Place.NONCE: "In the nonce",
    Place.METHOD: "In the method",
    Place.QUERY: "In the query",
    Place.BODY_HASH: "In the body hash",
    Place.STRING: "In how the string is put together",
    Place.KEY: "In the key of the HMAC",
    Place.ALGORITHM: "In the algorithm",
    Place.ENCODING: "In how the signature is written",
    Place.PREFIX: "In its prefix",
}


def as_markdown() -> str:
    """Return the content of the page."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    return before + BEGIN + "".join(map(_section, Place)) + "\n" + END + after


def _section(place: Place) -> str:
    rows = [
        f"| `{one.id}` | {_cell(one.does.replace('{}', '…'))} | {_cell(one.fix)} |\n"
        for one in MISTAKES
        if one.place is place
    ]
    return f"\n### {_TITLES[place]}\n\n| id | the client | what to do |\n|---|---|---|\n{''.join(rows)}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "\\<")
