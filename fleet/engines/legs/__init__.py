"""A run of instructions on RTL in legs: parts that start from the functional model's state and are simulated side by side.

The functional model knows the whole declared state before every instruction, to the bit. So a run is cut into legs; each leg starts
from that state, repeats the last instructions of the leg before it (its warm-up, not counted), runs its own, and is compared with
the functional model at every commit and, when it is over, in every byte of memory. What a leg leaves is then what the next one
started from: by induction the declared state of the whole run is compared. State that the description does not declare is covered
by the warm-ups alone, and `Evidence.cut` says so.
"""
