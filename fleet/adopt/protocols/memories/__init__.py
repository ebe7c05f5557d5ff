"""Memories behind requests."""
