"""Passes over graphs: types, fusion, and lowering to an IR program."""
