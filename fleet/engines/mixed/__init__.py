"""Engine `mixed`: every part of a program on the device that its source wants."""
