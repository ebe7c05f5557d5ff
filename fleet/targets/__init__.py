"""What a program is compiled to."""
