"""The version of the contract between fleet and instruction sets."""

from __future__ import annotations

__all__ = ["VERSION", "why_not"]

VERSION = "2.8"
"""major.minor: a set for another major version, or for a later minor one, is refused (`InstructionSet.sdk`)."""


def why_not(version: str) -> str | None:
    """Return why a set written for this version cannot be used; None if it can."""
    own = tuple(map(int, VERSION.split(".")))
    major, dot, minor = version.partition(".")
    if not (dot and major.isdecimal() and minor.isdecimal()):
        return f"sdk is {version!r}, expected the version of fleet.sdk that it is written for, as {VERSION!r}"
    if int(major) != own[0] or int(minor) > own[1]:
        return f"it is written for version {version} of fleet.sdk, this is version {VERSION}"
    return None
