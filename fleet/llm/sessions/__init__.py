"""A language model on one engine, a token at a time."""
