"""Shrinks failures: reduces a failing stream or model while it still fails in the same way, and stores it as a test.

`fleet.compare.signature` defines "in the same way". For streams: `oracle` runs attempts and caches them, `record` stores the memory
before every instruction, `instructions`, `fields`, `values` and `places` reduce the stream, `stream` runs them in order.
"""
