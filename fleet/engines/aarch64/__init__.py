"""Engine `aarch64`."""
