"""StableHLO, which JAX writes: its text, and what its operations mean."""
