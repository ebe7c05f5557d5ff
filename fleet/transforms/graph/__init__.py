"""Passes over graphs: types, fusion, and the way to an IR program."""
