"""Ports that take instructions."""
