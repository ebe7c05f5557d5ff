"""The device's arithmetic, bit for bit (docs/arithmetic.md)."""
