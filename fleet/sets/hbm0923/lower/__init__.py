"""How IR operations become instructions of the set: one file a family of operations, `fleet.sets.hbm0923.patterns` lists them."""
