"""Runs a user's C++ host program against a device: its register writes and reads become those of the simulated hardware, or of
a register-level model of it; memories are the mapped files that all sides share.

`server` starts the program and answers it over a Unix socket (`protocol`), `registers` interprets register writes with the
description, `model` answers with the functional model and `hardware` with the simulation, which `beside` compares with the
functional model. The program's side is fleet/targets/driver/fleet_host.h; docs/host.md is for users.
"""
