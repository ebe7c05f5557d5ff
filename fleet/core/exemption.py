"""Exemptions: exceptions to a check, each with an owner, a reason and, as a rule, a day on which it expires."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field

from fleet.core.toml_file import TomlTable
from fleet.errors import ComparisonFailure, FleetError

LONGEST = datetime.timedelta(days=366)
"""The longest time from today until an exemption expires: its owner must renew it."""


@dataclass(frozen=True)
class Exemption:
    """An exception to a check. expires: the last day on which it holds, None for no limit; place: file:line, for messages.

    Raises FleetError if owner or reason is blank.
    """

    owner: str
    reason: str
    expires: datetime.date | None = None
    place: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not self.owner.strip() or not self.reason.strip():
            raise FleetError("an exemption needs an owner and a reason", where=self.place or None, hint="give both")

    def __str__(self) -> str:
        return f"{self.owner}: {self.reason}" + (f" (until {self.expires.isoformat()})" if self.expires else "")

    def expired(self, today: datetime.date) -> bool:
        """True if `today` is later than `expires`."""
        return self.expires is not None and self.expires < today

    def check(self, name: str, today: datetime.date) -> None:
        """Raises ComparisonFailure if it has expired, or expires more than `LONGEST` after `today`. name: for the message."""
        if self.expires is None:
            return
        if self.expired(today):
            what = f"{name} expired on {self.expires.isoformat()} ({self.reason})"
            raise ComparisonFailure(what, where=self.place, hint="mend the cause, or let its owner renew it")
        if self.expires > today + LONGEST:
            what = f"{name} ends on {self.expires.isoformat()}, more than a year from today"
            raise ComparisonFailure(what, where=self.place, hint="give a day within a year, and renew it then if need be")


def read_exemption(table: TomlTable, day: str = "expires") -> Exemption:
    """Reads `owner`, `reason` and the optional date `day` of a table. Raises the table's kind of error at the line of a bad key."""
    return Exemption(
        table.text("owner"), table.text("reason"), table.date(day) if day in table else None, table.at(day if day in table else "")
    )
