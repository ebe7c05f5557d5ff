"""Looking for what is wrong: random streams and programs, coverage, mutants, shrinking, the impact of a change."""
