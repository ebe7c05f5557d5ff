"""Adopted hardware under test: changed in small ways, run with other initial values, its failing tests made small."""
