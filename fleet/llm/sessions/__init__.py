"""Sessions: a language model on one engine, one step at a time."""
