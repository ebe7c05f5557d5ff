"""NumPy's own functions as operations: their calls, the types of their results, and sequences of operations for them."""
