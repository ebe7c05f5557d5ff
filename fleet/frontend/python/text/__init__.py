"""Strings with values of the run."""
