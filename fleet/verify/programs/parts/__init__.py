"""The pieces of random programs: statements, calls, operations, values."""
