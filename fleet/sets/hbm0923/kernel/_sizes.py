"""Sizes that the compiled code and its callers share."""

from __future__ import annotations

from fleet.sets.hbm0923.mvm_operands import PIXEL_LANES

UNIT = PIXEL_LANES
"""Inputs of a unit: the lanes of one pixel, 64 bytes of features, 16 bytes of codes."""
DIGITS = 6
"""Maximum number of signed base-256 digits of a feature: 41 bits."""
CHANNELS = 64
"""Output rows are padded to a multiple of this number of channels, which every variant's block divides."""
EXACT_BITS = 53
"""Bits of an integer that binary64 holds exactly."""
MOST_NEED = 26
"""Bits of a row of `dots` that is not split, at first. One of 128 normal numbers needs 25 on average, one of probabilities 24."""
NOT_FINITE = 10_000
"""Number of bits that is reported for a row with an infinity or a NaN; more than any finite row needs."""
MOST_WIDTH = 16
"""Lanes of the widest variant's vectors."""
