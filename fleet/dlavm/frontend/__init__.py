"""Models from elsewhere: NumPy source, read and never executed; see `fleet.frontend.source`."""

from fleet.frontend.source import load, sample_inputs, signature

__all__ = ["load", "sample_inputs", "signature"]
