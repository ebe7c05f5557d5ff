"""Which faults are planted when: the quick ones always, a sample of the others every night, all of them once a week."""

from __future__ import annotations

import datetime
import os
import random
from collections.abc import Sequence

from planting import Fault

SAMPLE = 24
"""Faults of a night beside the quick ones."""


def seed_of_the_day() -> int:
    """The date as a number, or FLEET_FAULT_SEED, with which a night can be done again."""
    return int(os.environ.get("FLEET_FAULT_SEED") or datetime.datetime.now(datetime.UTC).strftime("%Y%m%d"))


def chosen_faults(faults: Sequence[Fault], *, nightly: bool, weekly: bool, seed: int) -> list[Fault]:
    """In the order of the catalogue."""
    slow = [f for f in faults if f.nightly]
    sample = slow if weekly else random.Random(seed).sample(slow, min(SAMPLE, len(slow))) if nightly else []
    names = {f.name for f in sample}
    return [f for f in faults if not f.nightly or f.name in names]
