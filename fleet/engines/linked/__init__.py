"""Designs that another simulator than Verilator has: the bench stays, and the design answers it from a process of its own."""
