"""Single lines and what goes with them."""
