"""The VM in C: bytecode and kernels compiled ahead of time, run by `fleet-vm` in its own process."""
