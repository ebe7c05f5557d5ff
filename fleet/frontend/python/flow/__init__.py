"""How statements end and where ways part and meet: decisions, loops, exceptions, returns."""
