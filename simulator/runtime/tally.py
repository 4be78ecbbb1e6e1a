"""How often a sandbox gave each sort of answer. The journal forgets; this does not, and there are few sorts."""

# Method, path as the contract writes it, status, error, what became of the connection; `Answered` of the domain.
Key = tuple[str, str, int, str, str]


class Tally:
    """Counters that are filled where the journal is written; `answers` by sort."""

    def __init__(self) -> None:
        self.answers: dict[Key, int] = {}
