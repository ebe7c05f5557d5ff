"""Control flow: decisions, loops, exceptions and returns, where ways part and meet."""
