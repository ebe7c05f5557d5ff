"""The VM's operators by family: in NumPy, and compiled code for products of integers."""
