"""`/v2/callback-url`: where the reseller receives callbacks (SPEC 4.18)."""

from simulator.api.call import Call, Reply
from simulator.api.notes import note
from simulator.api.refusals import refuse_parameters
from simulator.domain.commands import SetCallback
from simulator.http_client.targets import reason_to_refuse
from simulator.wire import callbacks


def read_url(call: Call) -> Reply:
    """200 with the configuration, empty strings when there is none."""
    return Reply(200, callbacks.configuration(call.owner.callback, call.now))


def set_url(call: Call) -> Reply:
    """200 with the values set; 400 for a URL that cannot be called."""
    url, method = call.fields["url"], call.fields["method"]
    if reason := reason_to_refuse(url):
        note(call, reason)
        return refuse_parameters({"url": [reason]})
    config = call.sandbox.apply(SetCallback(call.owner.code, url, method), call.now)
    return Reply(200, callbacks.configuration(config, call.now))
