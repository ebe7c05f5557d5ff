"""Instructions, their typed operands, and the modules that hold them."""
