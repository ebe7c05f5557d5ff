"""Instruction streams without a model: calls on memory images, run by `iss` and by `rtl`, compared at every commit.

`case` defines a stream, `images` holds device memory, `run` runs and compares, `locate` describes how commits differ, `bundle`
stores a failing stream so that one command runs it again. `fleet.verify.conformance` makes suites of streams.
"""
