"""Bound the difference of two correct implementations: `sides` states how each computes, `tolerance` chains the rules."""
