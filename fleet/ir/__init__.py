"""The IR: dialects on xDSL, programs, types."""
