"""The questions: what the service does where SPEC is silent, as values of the knobs of `assume`."""

from simulator.conform.questions import catalog, paid, signatures, tokens, wallet

__all__ = ["catalog", "paid", "signatures", "tokens", "wallet"]
