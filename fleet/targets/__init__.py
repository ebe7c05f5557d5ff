"""The forms that a program is compiled to."""
