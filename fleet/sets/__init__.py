"""The project's own instruction sets. Each is found by its entry point and imports only `fleet.sdk`."""
