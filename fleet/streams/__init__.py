"""Instruction streams without a model: calls on memory images, run by `iss` and by `rtl`, compared at every commit.

`case` says what a stream is, `images` holds device memory, `run` runs and compares, `locate` says how commits differ,
`bundle` stores a failing stream so that one command plays it again. `fleet.verify.conformance` makes suites of them.
"""
