"""The accelerator target, of programs and of graphs: legalise, plan memory, emit instructions, binary, driver."""
