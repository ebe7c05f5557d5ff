"""Hardware that was not written for fleet: its sources are read as they are, and what its ports mean becomes data."""
