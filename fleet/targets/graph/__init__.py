"""A graph of accelerator calls to instructions with symbolic fields: memory plan, code generation, header, binary."""
