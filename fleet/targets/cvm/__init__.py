"""The VM in C: bytecode and kernels that are compiled ahead of time, run by `fleet-vm` in a process of its own."""
