"""Expressions over dynamic dimensions; the lowest layer, used by all other packages."""
