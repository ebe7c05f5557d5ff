"""The page of one run: headline, accuracy, cycles, divergence, generation, the difference of two runs."""
