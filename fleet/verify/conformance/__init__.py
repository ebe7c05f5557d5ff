"""Streams that are drawn: the conformance suite of an instruction set, and fuzzing without end.

`suite` makes a stream of its name, `programs` draws instructions that depend on each other, `settings` says what a stream runs
under; `coverage` is the account of a suite, `fuzz` draws on and on.
"""
