"""Raising: finding the idioms of NumPy programs (norms, softmax, GELU, attention) and saying them in one operation."""
