"""Processing of weights before they are loaded; see `fleet.transforms.quantise`."""

from fleet.transforms.quantise import Quantised, QuantiseOptions, quantise

__all__ = ["QuantiseOptions", "Quantised", "quantise"]
