"""Lowers operations of the IR to instructions: matching, tiles, windows, schedule."""
