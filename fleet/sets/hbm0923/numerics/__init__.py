"""The device's arithmetic to the bit (docs/arithmetic.md)."""
