"""The version of fleet."""

__version__ = "0.2.0"
