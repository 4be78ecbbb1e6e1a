"""The questions: what the service does where SPEC is silent, as values of the knobs of `assume`. Those that may pay
come last, so that nothing else sees what they did."""

from simulator.staging.conform.questions import catalog, paid, signatures, wallet
from simulator.staging.conform.registry import QUESTIONS, Question

ORDER = (catalog, signatures, wallet, paid)


def all_questions() -> list[Question]:
    """Every question, in this order."""
    return [one for module in ORDER for one in QUESTIONS.values() if one.asked.__module__ == module.__name__]
