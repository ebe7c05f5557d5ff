"""A device as an instruction set sees it: parameters, architectural state, and its place in the RTL."""
