"""Expressions over dynamic dimensions; at the bottom, used by all."""
