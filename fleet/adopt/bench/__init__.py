"""A bench for an adopted design, generated from its port map: clocks, resets, ties, what answers and what watches each port."""
