"""Replay from the last good commit: run the few instructions before a divergence again, on memory that both engines agreed on.

`history` moves forwards and backwards through the functional model's memory, `fillers` finds the instructions to repeat for on-chip
memories, `window` runs the instructions (`fleet.engines.rtl_sim.hardware`), `explain` describes the result.
"""
