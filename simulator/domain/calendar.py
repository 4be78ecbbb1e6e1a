"""The service's own day: GMT+8, without daylight saving (SPEC 1)."""

from datetime import timedelta, timezone

SERVICE_ZONE = timezone(timedelta(hours=8))
