"""Files that a description generates: SystemVerilog, typed operands, state."""
