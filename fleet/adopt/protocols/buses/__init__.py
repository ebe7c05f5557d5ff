"""Buses with addresses: registers and memory."""
