"""The meaning of NumPy's arrays, operators and functions, as values of the IR or computed at once."""
