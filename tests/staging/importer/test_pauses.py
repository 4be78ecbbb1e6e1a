"""The pauses of `import` when a deployment asks for them."""

from pathlib import Path

import pytest

from simulator.staging.conform.findings import NotExercised
from simulator.staging.importer.account_answers import AnswerFile, Answers, LongPause, retry_after
from simulator.staging.service import Answer, NoAnswer, Request, Session, SessionClock
from simulator.staging.signed_requests import Credentials

CREDENTIALS = Credentials("key_of_mine", "c2VjcmV0LW9mLW1pbmU=")
ANY = Request("GET", "/")


class Clock(SessionClock):
    """A clock that moves when the importer waits."""

    def __init__(self) -> None:
        self.at, self.waits = 1000.0, list[float]()

    def now(self) -> float:
        return self.at

    def wait(self, seconds: float) -> None:
        self.at += seconds
        if seconds > 0.01:
            self.waits.append(round(seconds, 3))


class Answering:
    """A service that gives these statuses in turn, the last one again and again."""

    def __init__(self, *statuses: int, **headers: str) -> None:
        self.statuses, self.headers, self.sent = list(statuses), headers, list[Request]()

    def send(self, request: Request) -> Answer:
        self.sent.append(request)
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        return Answer(request, status, {"retry-after": self.headers.get("later", "")}, b'{"data":1}')


def ask(service: Answering, folder: Path, requests_max: int = 100) -> tuple[object, list[float]]:
    clock = Clock()
    session = Session(service, CREDENTIALS, clock, 1e6, requests_max)
    state = AnswerFile(folder / "state", "an-account", lambda text: text)
    state.begin("now")
    return Answers(session, state).ask("/v2/balance"), clock.waits


@pytest.mark.parametrize("status", [429, 503])
def test_a_pause_is_made_and_the_next_request_has_another_nonce(status: int, tmp_path: Path) -> None:
    service = Answering(status, 200, later="17")
    assert ask(service, tmp_path) == ({"data": 1}, [17.0])
    assert len({request.headers["X-Nonce"] for request in service.sent}) == 2


def test_without_a_retry_after_each_pause_is_longer_until_there_is_no_answer(tmp_path: Path) -> None:
    service = Answering(429)
    with pytest.raises(NoAnswer, match="429"):
        ask(service, tmp_path)
    assert len(service.sent) == 5


def test_a_pause_that_is_too_long_ends_it_and_says_how_long(tmp_path: Path) -> None:
    with pytest.raises(LongPause, match="a pause of 3600 seconds"):
        ask(Answering(429, later="3600"), tmp_path)


def test_the_limit_of_requests_includes_repeated_requests(tmp_path: Path) -> None:
    service = Answering(429)
    with pytest.raises(NotExercised, match="limit of 2 requests"):
        ask(service, tmp_path, requests_max=2)
    assert len(service.sent) == 2


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("120", 120.0),
        ("Thu, 01 Jan 1970 00:03:20 GMT", 100.0),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("", None),
    ],
)
def test_a_retry_after_is_a_number_or_a_date(text: str, seconds: float | None) -> None:
    assert retry_after(Answer(ANY, 429, {"retry-after": text}, b""), now=100.0) == seconds
