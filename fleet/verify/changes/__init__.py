"""Change impact: compares two versions of an instruction set."""
