"""What goes one way."""
