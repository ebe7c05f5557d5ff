"""Random programs of NumPy, run by CPython and by the engines: drawing, comparing, shrinking, keeping.

`fuzz` draws programs without end and compares them; `drawing` makes one, `oracle` compares it, `shrinking` makes a failing one
small, `stored` keeps it as a test, `bins` says what has been met, `parts` is what programs are made of.
"""
