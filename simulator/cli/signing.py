"""The name under which tools outside the project import what signs a request: it is in `staging/signed_requests`."""

from simulator.staging.signed_requests import Credentials, sign

__all__ = ["Credentials", "sign"]
