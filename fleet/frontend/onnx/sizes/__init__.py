"""Sizes of the dimensions of a model's inputs: those that names state, and those that nodes demand."""
