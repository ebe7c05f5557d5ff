"""A run of instructions on RTL in legs: parts that start from the functional model's state and are simulated in parallel.

The functional model knows the whole declared state before every instruction, to the bit. So a run is cut into legs; each leg starts
from that state, repeats the last instructions of the leg before it (its warm-up, not counted), runs its own, and is compared with
the functional model at every commit and, at its end, in every byte of memory. The final state of a leg is then the initial state of
the next: by induction the declared state of the whole run is compared. Only the warm-ups cover state that the description does not
declare, and `Evidence.cut` says so.
"""
