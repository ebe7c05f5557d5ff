"""What a device is to an instruction set: parameters, architectural state, and where the RTL keeps it."""
