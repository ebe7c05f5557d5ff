"""Compare two traces: metrics, derived bounds, verdicts, and the first place at which the traces must agree and do not."""
