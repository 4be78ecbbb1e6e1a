"""A stateful simulator of a reseller payments API."""

try:
    from simulator._version import __version__ as __version__
except ImportError:  # a checkout without installation
    __version__ = "0.1.0.dev0"
