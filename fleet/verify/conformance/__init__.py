"""Drawn streams: the conformance suite of an instruction set, and endless fuzzing.

`suite` makes a stream from its name, `programs` draws instructions that depend on each other, `settings` lists the memory models
and ways of issue, `coverage` is the account of a suite, `fuzz` draws programs without end.
"""
