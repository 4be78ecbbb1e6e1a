"""Statuses that the service writes (SPEC 2.3); an expectation of another one is a mistake."""

PAYMENT = ("Accepted", "Processing", "Succesful", "Failed", "Refund")
CALLBACK = ("Processing", "Succesful", "Failed")
MISSPELT = ("success", "successful", "succeeded")


def check_payment(status: str) -> None:
    """Raise `ValueError`, with those that there are, for a status that no payment ever has."""
    _check(status, PAYMENT, "payment")


def check_callback(status: str | None) -> None:
    """Raise `ValueError`, with those that there are, for a status that no callback ever has; None is any."""
    if status is not None:
        _check(status, CALLBACK, "callback")


def _check(status: str, known: tuple[str, ...], what: str) -> None:
    if status in known:
        return
    hint = ": the service writes 'Succesful', with one s" if str(status).lower() in MISSPELT else ""
    raise ValueError(f"{status!r:.60} is no status of a {what}{hint}; give one of {', '.join(known)}")
