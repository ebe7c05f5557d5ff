"""Engines run a compiled program and give back a trace."""
