"""What HTTP says about answers, ours and those of receivers."""

from typing import Final

WITHOUT_BODY: Final = (204, 304)
"""Final statuses whose answers end with their head (RFC 9112 6.3)."""
