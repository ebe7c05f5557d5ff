"""Modules of Python's library that are computed while the source is read."""
