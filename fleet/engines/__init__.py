"""Engines run a compiled program and return a trace."""
