"""What random programs are made of: statements, calls, operations, values."""
