"""`make screenshots`: take the pictures of the console for README and docs, of a real server with the same day each
time."""

from pathlib import Path

from tests.support.console import Console, console

IMAGES = Path(__file__).parents[1] / "docs" / "images"
START = "2027-01-10T23:58:00+08:00"
ORDERS = (("order-1", "0123456789"), ("order-2", "0123456701"), ("order-3", "0123456789"), ("order-7", "0123456707"))


def day(shown: Console) -> str:
    """Make some payments, a failing receiver and a refusal; return the trxid of the payment to show."""
    shown.control("DELETE", "sandboxes/day")
    made = shown.control("POST", "sandboxes", {"id": "day", "seed": 7, "clock": {"mode": "manual", "start": START}})
    shown.sandbox, shown.reseller = made["id"], made["resellers"][0]
    shown.mine("PUT", "inbox/callbacks", {"replies": [{"status": 200}] * 3 + [{"status": 500}, {"status": 200}]})
    trxids = []
    for refid, account in ORDERS:
        trxids.append(shown.pay(refid, account=account))
        shown.mine("POST", "clock/advance", {"seconds": 4})
    shown.call("POST", "/v2/topup", {"refid": "order-8", "product": "FP", "account": "0123456789", "amount": "7"})
    shown.call("POST", "/v2/transactions/check", {"refid": "order-7"})
    shown.mine("POST", "clock/advance", {"seconds": 30})
    return trxids[1]


def main() -> None:
    """Write the pictures."""
    IMAGES.mkdir(exist_ok=True)
    with console() as shown:
        shown.control("POST", "sandboxes", {"id": "day"})
        trxid = day(shown)
        shown.page.set_viewport_size({"width": 1280, "height": 560})
        for scheme in ("light", "dark"):
            shown.page.emulate_media(color_scheme=scheme)
            for name, view in (("live", "live"), ("story", f"payments/{trxid}")):
                shown.open(view)
                shown.page.wait_for_timeout(1500)
                shown.page.screenshot(path=IMAGES / f"console-{name}-{scheme}.png")
                print(f"docs/images/console-{name}-{scheme}.png")


if __name__ == "__main__":
    main()
