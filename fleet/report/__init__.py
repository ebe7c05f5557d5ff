"""Pictures and pages out of stored results; never runs anything."""
