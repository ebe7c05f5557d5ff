"""SystemRDL in, a `Description` out."""
