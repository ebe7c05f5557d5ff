"""The fleet command."""
