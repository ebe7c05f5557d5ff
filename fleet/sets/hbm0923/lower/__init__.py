"""Lowering of IR operations to instructions: one file per family; `fleet.sets.hbm0923.patterns` lists the patterns."""
