"""All instructions except MVM, one module per unit, and their common parts."""
