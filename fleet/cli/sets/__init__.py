"""Commands for instruction sets of your own: `fleet init`, `fleet isa`."""
