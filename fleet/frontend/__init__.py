"""Models in, IR out."""
