"""Nights: what many runs did, held against the nights before, against what was accepted, and told in one page."""
