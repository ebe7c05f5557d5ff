"""fleet: a co-simulation harness for deep-learning accelerators."""

__version__ = "0.1.0"
