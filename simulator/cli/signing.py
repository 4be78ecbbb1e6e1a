"""The name under which tools outside the project import what signs a request: it is in `staging/signing`."""

from simulator.staging.signing import Credentials, sign

__all__ = ["Credentials", "sign"]
