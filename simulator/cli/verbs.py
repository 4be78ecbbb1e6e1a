"""The verbs of the command `reseller-sim`, in the order of its help."""

from typing import NamedTuple

TEST, WATCH, CHANGE = "Serve and test", "Watch", "Change a sandbox"
SCENARIOS, JUDGE, STAGING, DATA = "Scenarios and contract", "Judge and explain", "Real deployments and teams", "Data"
GROUPS = (TEST, WATCH, CHANGE, SCENARIOS, JUDGE, STAGING, DATA)


class Verb(NamedTuple):
    """The group of the help that a verb is in, the module that has it, and the first sentence of its help."""

    group: str
    module: str
    help: str


VERBS = {
    "serve": Verb(TEST, "serve", "Run the simulator."),
    "exec": Verb(TEST, "exec", "Run a command against a simulator of its own."),
    "explore": Verb(JUDGE, "explore", "Find the faults under which a command fails."),
    "tail": Verb(WATCH, "watch", "Print the events of a running simulator as they happen."),
    "listen": Verb(WATCH, "watch", "Forward callbacks and webhooks to an address of yours."),
    "call": Verb(TEST, "call", "Send one signed request and print the response."),
    "explain": Verb(JUDGE, "explain", "Explain why a signature or another credential is refused."),
    "sign": Verb(TEST, "call", "Print a request's canonical string, headers and curl command."),
    "advance": Verb(CHANGE, "clock", "Move the clock, and print what happened."),
    "clock": Verb(CHANGE, "clock", "Print the clock, set its mode, or stop an advance."),
    "requests": Verb(WATCH, "requests", "Print the requests that a sandbox received."),
    "story": Verb(WATCH, "requests", "Print all that happened to a payment."),
    "inbox": Verb(WATCH, "inbox", "Print what an inbox received, or program its replies."),
    "deposit": Verb(CHANGE, "sandbox", "Credit a wallet."),
    "trigger": Verb(CHANGE, "inbox", "Send a webhook or a callback now."),
    "rule": Verb(CHANGE, "rule", "Add, list and remove rules."),
    "hold": Verb(CHANGE, "rule", "List and release the answers and messages that rules hold."),
    "network": Verb(CHANGE, "rule", "Show, interrupt or restore a product's network."),
    "product": Verb(CHANGE, "rule", "Take a product on or off sale, or change it."),
    "sandbox": Verb(CHANGE, "sandbox", "Create, list and delete sandboxes."),
    "mark": Verb(CHANGE, "clock", "Create, list and delete marks of a sandbox."),
    "rewind": Verb(CHANGE, "clock", "Return a sandbox to a moment."),
    "fork": Verb(CHANGE, "clock", "Copy a sandbox as it is now, or as it was at a moment."),
    "expectations": Verb(JUDGE, "audit", "Check whether a scenario's expectations are met."),
    "health": Verb(TEST, "serve", "Check whether a simulator answers."),
    "import": Verb(STAGING, "conform", "Print a scenario with the catalog of a real account."),
    "scenarios": Verb(SCENARIOS, "documents", "Print bundled scenarios, magic accounts or the JSON Schema."),
    "check": Verb(SCENARIOS, "documents", "Report the problems of scenario files."),
    "prove": Verb(JUDGE, "explore", "Check whether a command survives a finding of explore."),
    "replay": Verb(DATA, "replay", "Rebuild a sandbox from its tape, and print what differs."),
    "data": Verb(DATA, "data", "Check, move, remove, compact or back up a data folder."),
    "audit": Verb(JUDGE, "audit", "Check a client's behaviour against the obligations of the service."),
    "conform": Verb(STAGING, "conform", "Check a deployment of the service against its contract."),
    "proxy": Verb(STAGING, "proxy", "Pass a client's requests to a deployment, and explain them."),
    "mcp": Verb(TEST, "mcp", "Serve the simulator to an assistant (Model Context Protocol)."),
    "assumptions": Verb(SCENARIOS, "documents", "Print the open questions of the specification, and our choices."),
    "openapi": Verb(SCENARIOS, "documents", "Print the contract as an OpenAPI 3.1 document."),
    "completion": Verb(TEST, "completion", "Print the completion script of a shell."),
}
