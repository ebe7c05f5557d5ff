"""Protocols of the ports of hardware: what a file of a user's own says."""

from fleet.sdk.ports.protocol import Driver, Protocol, Role, Signal

__all__ = ["Driver", "Protocol", "Role", "Signal"]
