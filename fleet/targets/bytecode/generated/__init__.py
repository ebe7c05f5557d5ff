"""Decoded code as one generated Python function: the form in which a run without observers goes."""
