"""Which sequence of instructions a model's block becomes."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.errors import FleetError

__all__ = ["CLASSIC", "SHORT", "ModelOptions"]


@dataclass(frozen=True)
class ModelOptions:
    """What of a block is joined, where its tensors stand, and for how many tokens it is planned.

    Attributes:
        tokens: most new tokens of a step; a longer prompt is read in chunks of so many.
        positions: most tokens in the caches, new ones included.
        fuse_qkv: q, k and v are one product, whose result is split by views.
        join_rope: the heads of q and k are rotated by one instruction; needs `fuse_qkv`.
        onchip: short-lived tensors stand in the on-chip memory where they fit.
        host_head: the head is not in the graph, whose result is the last token's normed channels: the host multiplies.
    """

    tokens: int = 32
    positions: int = 512
    fuse_qkv: bool = True
    join_rope: bool = True
    onchip: bool = True
    host_head: bool = False

    def __post_init__(self) -> None:
        """Raises FleetError for sizes that cannot be."""
        if not 1 <= self.tokens <= self.positions:
            raise FleetError(
                f"{self.tokens} tokens a step and {self.positions} positions, expected 1 <= tokens <= positions", where="plan"
            )
        if self.join_rope and not self.fuse_qkv:
            raise FleetError("join_rope without fuse_qkv: the heads of q and k do not stand side by side", where="plan")


CLASSIC = ModelOptions(fuse_qkv=False, join_rope=False, onchip=False)
"""The 17 operations a block of seed 004's family, all in DDR."""

SHORT = ModelOptions()
"""14 operations a block; measured to be the quickest on small models (docs/language-models.md)."""
