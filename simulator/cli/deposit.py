"""`reseller-sim deposit`: puts money into a wallet."""

from typing import Any

import click

from simulator.cli import values
from simulator.cli.control import Control
from simulator.cli.flags import json_flag, own_option, running_flags, verb
from simulator.cli.output import echo_value
from simulator.cli.resellers import deposit
from simulator.cli.tables import print_line


@verb("deposit")
@click.argument("amount", callback=values.amount)
@own_option("--reseller", metavar="CODE", help="Whose wallet; by default that of the sandbox's first reseller.")
@own_option("--description", metavar="TEXT", help="What the statement says of it.")
@running_flags
@json_flag(help="Print the ledger entry.")
def command(amount: str, reseller: str | None, description: str | None, json: bool, **running: Any) -> None:
    """Put money into a wallet.

    AMOUNT is in MYR with at most two decimals. A reseller with a balance webhook gets `balance.added`. Exit code 1
    means that there is no such reseller.

    \b
    Examples:
      reseller-sim deposit 500
      reseller-sim deposit 19.90 --reseller RS001 --description 'bank transfer'
      reseller-sim deposit 500 --json | jq .balance
    """
    code, entry = deposit(Control("reseller-sim deposit", **running), amount, reseller, description)
    if json:
        echo_value(entry)
    else:
        print_line(f"{code}: {entry['amount']:.2f} MYR added, balance {entry['balance']:.2f} MYR")
