"""A run against a deployment: makes every check and asks every question, for answers of any shape."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from simulator.staging.conform import account_questions, questions
from simulator.staging.conform.checks import (
    catalog_checks,
    configuration,
    invalid_requests,
    payment_checks,
    reads,
    signatures,
    statements,
)
from simulator.staging.conform.context import CHECKS, FINDINGS_MAX, QUESTIONS, Check, Question, Run
from simulator.staging.conform.findings import ConformReport, Departs, Departure, LearnedKnob, NotExercised, Result
from simulator.staging.service import NoAnswer

# Errors of arithmetic and look-ups on an answer of an unexpected shape.
UNEXPECTED = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError)
MISHAP = "an answer"
"""The field of the departure for such an error, since no check named a field."""


# Reads and refusals first; payments before the history and the statement, which need entries.
ORDER = (reads, catalog_checks, invalid_requests, signatures, payment_checks, statements, configuration)


def all_checks() -> list[Check]:
    """Return every check, in this order."""
    return [check for module in ORDER for check in CHECKS.values() if check.function.__module__ == module.__name__]


def all_questions() -> list[Question]:
    """Return the questions; questions about payments come last."""
    modules = (questions.__name__, account_questions.__name__)
    return [question for name in modules for question in QUESTIONS.values() if question.function.__module__ == name]


def known_names() -> set[str]:
    """Return the names of all checks and questions."""
    return {check.id for check in all_checks()} | {question.id for question in all_questions()}


def run_checks(run: Run, only: Collection[str] = (), on_result: Callable[[Result], None] | None = None) -> list[Result]:
    """Make every check, or the named checks, in their order; `on_result` is called after each."""
    results = []
    for check in all_checks():
        if not only or check.id in only:
            results.append(_result(run, check))
            if on_result is not None:
                on_result(results[-1])
    return results


def ask_questions(run: Run, only: Collection[str] = ()) -> tuple[list[LearnedKnob], dict[str, str]]:
    """Ask every question, or the named questions. Return the learned knobs, and why the rest was not learned."""
    found: list[LearnedKnob] = []
    unlearned: dict[str, str] = {}
    for question in all_questions():
        if only and question.id not in only:
            continue
        try:
            run.require(question.needs)
            value, evidence = question.function(run)
            found.append(LearnedKnob(question.id, value, run.hidden(evidence)))
        except NotExercised as why:
            unlearned[question.id] = run.hidden(str(why))
        except NoAnswer as why:
            unlearned[question.id] = run.hidden(f"no answer came: {why}")
        except (Departs, *UNEXPECTED) as unexpected:
            text = unexpected if isinstance(unexpected, Departs) else repr(unexpected)
            unlearned[question.id] = run.hidden(f"an answer has another shape: {text}")
    return found, unlearned


def report(
    run: Run, address: str, only: Collection[str] = (), on_result: Callable[[Result], None] | None = None
) -> ConformReport:
    """Make the checks and ask the questions; `address` is the service's, for the report."""
    results = run_checks(run, only, on_result)
    answers, unlearned = ask_questions(run, only)
    spent = f"{run.paying.spent:.2f}" if run.paying is not None else "0.00"
    return ConformReport(address, tuple(results), tuple(answers), unlearned, run.session.sent, spent)


def _result(run: Run, check: Check) -> Result:
    began = run.session.clock.now()
    result = Result(check.id, check.section, check.title, "passed")
    try:
        run.require(check.needs)
        departures = _collected(check.function(run))
    except NotExercised as why:
        result = replace(result, outcome="not exercised", why=run.hidden(str(why)))
    else:
        if departures:
            first = departures[:FINDINGS_MAX]
            masked = tuple(
                Departure(*map(run.hidden, (departure.field, departure.expected, departure.actual)))
                for departure in first
            )
            result = replace(result, outcome="departs", departures=masked)
    notes = tuple(run.hidden(note) for note in run.take_notes())
    return replace(result, notes=notes, duration_s=max(0.0, run.session.clock.now() - began))


def _collected(departures: Iterable[Departure]) -> list[Departure]:
    """Return all departures, also from the final exception. `NotExercised` passes only without a departure."""
    found: list[Departure] = []
    try:
        found.extend(departures)
    except Departs as last:
        found.append(last.departure)
    except NoAnswer as why:
        found.append(Departure("the answer", "a complete response", str(why)))
    except NotExercised:
        if not found:
            raise
    except UNEXPECTED as unexpected:
        found.append(Departure(MISHAP, "the shape that the contract describes", repr(unexpected)))
    return found
