"""Pages of many runs and of checks: campaigns, nights, conformance, coverage, mutants, planted faults, JUnit."""
