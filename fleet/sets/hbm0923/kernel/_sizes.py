"""Sizes that the compiled code and its callers agree on."""

from __future__ import annotations

from fleet.sets.hbm0923.mvm_operands import PIXEL_LANES

UNIT = PIXEL_LANES
"""Inputs of a unit: the lanes of one pixel, 64 bytes of features, 16 bytes of codes."""
DIGITS = 6
"""Signed base-256 digits of a feature, at most: 41 bits."""
CHANNELS = 64
"""Channels that an output row is rounded up to: every variant's block divides it."""
