"""Pictures and pages of stored results; never runs anything."""
