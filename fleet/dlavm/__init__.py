"""dlavm's module layout and names for parts of fleet: a dlavm script runs with `from fleet.dlavm import ...`.

`ne` and `adr` build graphs, `device` has the accelerators, `transform` checks and rewrites, `backend` and `target` compile, `llm`
has models and `runtime` runs them. These modules only forward to others; docs/dlavm.md lists where each name comes from, and what
differs.
"""
