"""The project's own instruction sets: each is found by its entry point, and imports `fleet.sdk` alone."""
