"""Replay from the last good commit: the few instructions before a divergence once more, on memory that both engines agreed on.

`history` goes back and forth over the functional model's memory, `fillers` finds what must run again for memories on the chip,
`window` runs the
instructions (`fleet.engines.rtl_sim.hardware`), `explain` puts what it showed into words.
"""
