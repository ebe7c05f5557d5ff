"""Functional coverage of an instruction set: compares the streams' calls with all possible ones, and draws towards the rest.

`fleet.sdk.coverage` is what a set may declare. `values` has classes of values, `shapes` of calls, `results` of written data;
`bins` lists every bin of a device, with a reason for each impossible one; `observe` turns a stream that ran into bins; `account`
stores them; `moves` and `aimed` draw towards a bin, `steer` chooses the bin; `run` runs everything; `rtl` reads the simulator's
counts.
"""
