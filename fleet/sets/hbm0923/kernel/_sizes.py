"""Sizes that the compiled code and its callers share."""

from __future__ import annotations

from fleet.sets.hbm0923.mvm_operands import PIXEL_LANES

UNIT = PIXEL_LANES
"""Inputs of a unit: the lanes of one pixel, 64 bytes of features, 16 bytes of codes."""
DIGITS = 6
"""Maximum number of signed base-256 digits of a feature: 41 bits."""
CHANNELS = 64
"""Output rows are padded to a multiple of this number of channels, which every variant's block divides."""
MOST_WIDTH = 16
"""Lanes of the widest variant's vectors."""
UNDECIDED = 0x7FC00001
"""Stands for a sum that is to be computed again: a NaN with a payload that none has which comes from FP16."""
