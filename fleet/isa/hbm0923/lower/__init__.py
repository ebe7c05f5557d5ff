"""How IR operations become instructions of the set: one file a family of operations, `fleet.isa.hbm0923.patterns` lists them."""
