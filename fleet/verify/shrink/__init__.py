"""Makes a failure small: a stream or a model that fails is reduced while it still fails in the same way, and kept as a test.

`fleet.compare.signature` says what "in the same way" means. Of streams: `oracle` runs attempts and remembers them, `record` knows
what memory held before every instruction, `instructions`, `fields`, `values` and `places` are what is taken away, `stream` puts
them in order.
"""
