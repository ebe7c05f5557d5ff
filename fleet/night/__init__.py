"""Nights of the regression: history, gates, causes, comparison, bisection."""
