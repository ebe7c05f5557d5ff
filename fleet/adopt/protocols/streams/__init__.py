"""Protocols that carry data in one direction."""
