"""Nothing happens here."""
