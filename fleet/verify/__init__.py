"""Verification: random streams and programs, coverage, mutants, shrinking, and the impact of a change."""
