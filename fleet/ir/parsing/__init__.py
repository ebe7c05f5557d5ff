"""Reading of textual IR."""
