"""Commands that run or compile a model, a stream or a host program."""
