"""Compare traces: metrics, bounds, divergence, cases, goldens."""
