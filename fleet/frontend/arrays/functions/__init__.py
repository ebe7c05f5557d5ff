"""NumPy's functions by family, in operations of the IR."""
