"""`reseller-sim sign`: shows how a request is signed, step by step, and as a curl command."""

import json as json_module

from simulator.cli.flags import json_flag, option, request_flags, verb
from simulator.cli.numbers import Whole
from simulator.cli.output import echo, echo_json
from simulator.cli.request import signed_request
from simulator.control.curl_commands import curl_command
from simulator.staging.signing import SignedRequest


@verb("sign")
@request_flags
@option("--timestamp", metavar="N", type=Whole(0), help="X-Timestamp in Unix seconds; by default now.")
@option("--nonce", metavar="TEXT", help="X-Nonce; by default a new one.")
@json_flag(help="Print one JSON object instead.")
def command(
    method: str,
    path: str,
    data: str | None,
    url: str | None,
    sandbox: str | None,
    key: str | None,
    secret: str | None,
    timestamp: int | None,
    nonce: str | None,
    json: bool,
) -> None:
    """Print a request's canonical string, headers and curl command.

    Nothing is sent. Compare the canonical string with the one that your client signs: it is
    v1:<timestamp>:<nonce>:<METHOD>:<query>:<hash of the body>, without the path. The curl command comes last, on its
    own line; it is valid for 5 minutes and one use.

    \b
    Examples:
      reseller-sim sign GET '/v2/catalog?include_inactive=true'
      reseller-sim sign POST /v2/topup -d @payment.json --key KEY --secret SECRET
      reseller-sim sign GET /v2/balance | tail -n 1 | sh
    """
    request = signed_request(method, path, data, url, sandbox, key, secret, timestamp, nonce)
    if json:
        echo_json(_as_json(request))
    else:
        echo(_readable(request))


def _readable(request: SignedRequest) -> str:
    headers = [f"{name}: {value}" for name, value in request.headers.items()]
    return "\n".join(
        [request.canonical, "", *headers, "", curl_command(request.method, request.url, request.headers, request.body)]
    )


def _as_json(request: SignedRequest) -> str:
    return json_module.dumps(
        {
            "method": request.method,
            "url": request.url,
            "canonical_string": request.canonical,
            "headers": request.headers,
            "curl": curl_command(request.method, request.url, request.headers, request.body),
        }
    )
