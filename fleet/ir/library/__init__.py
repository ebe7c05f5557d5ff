"""NumPy's own functions as operations: their calls, the types of what they give, and sequences of operations for them."""
