"""How far two right implementations of a program may be apart: `sides` says how each computes, `tolerance` chains the rules."""
