"""Raising: finds idioms of NumPy programs (norms, softmax, GELU, attention) and replaces each by one operation."""
