"""What the VM computes, by family of operators: in NumPy, and compiled for products of integers."""
