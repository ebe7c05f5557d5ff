"""dlavm's module layout and names for what stands elsewhere in fleet: a script for dlavm runs with `from fleet.dlavm import ...`.

`ne` and `adr` build graphs, `device` has the accelerators, `transform` checks and rewrites, `backend` and `target` compile, `llm`
has models and `runtime` runs them. Nothing here does anything itself; docs/dlavm.md says what stands where, and what differs.
"""
