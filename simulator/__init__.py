"""A stateful simulator of a reseller payments API."""

__version__ = "0.1.0"
