"""Functional coverage of an instruction set: what its streams met of all that they could meet, and the draws that aim at the rest.

`fleet.sdk.coverage` is what a set may say of it. `values` are classes of values, `shapes` of calls, `results` of what was written;
`bins` lists every bin of a device with the reason of those that are impossible; `observe` turns a stream that ran into bins;
`account` keeps them; `moves` and `aimed` draw towards a bin, `steer` chooses which; `run` runs it all; `rtl` reads what the
simulator counted.
"""
