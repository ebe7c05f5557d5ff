"""Engine `mixed`: runs every part of a program on the device that its source names."""
