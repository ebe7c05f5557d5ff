"""Change impact: two versions of an instruction set side by side."""
