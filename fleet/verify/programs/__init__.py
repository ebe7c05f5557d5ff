"""Random NumPy programs, run by CPython and by the engines: drawing, comparing, shrinking, storing.

`fuzz` draws and compares programs without end; `drawing` draws one, `oracle` compares it, `shrinking` reduces a failing one,
`stored` keeps it as a test, `bins` counts what has been met, `parts` holds the pieces of programs.
"""
