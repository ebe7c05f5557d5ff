"""Python's builtin functions."""
