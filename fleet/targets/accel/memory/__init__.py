"""Memory of an accelerator: lifetimes, places of tensors and constants, of programs and of graphs."""
