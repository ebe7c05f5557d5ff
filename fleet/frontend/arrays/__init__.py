"""What NumPy's arrays, operators and functions mean, as values of the IR or computed at once."""
