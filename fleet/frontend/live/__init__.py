"""Functions of a running program, for `@jit`: names, sources, arguments, results."""
