"""Options for the instruction sequence of a model's block."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.errors import FleetError


@dataclass(frozen=True)
class ModelOptions:
    """Choices for a model's graph: operations to join, placement of tensors, and the number of tokens to plan for.

    Attributes:
        tokens: maximum new tokens per step; a longer prompt is read in chunks of this size.
        positions: maximum tokens in the caches, including new ones.
        fuse_qkv: compute q, k and v as one product and split the result with views.
        join_rope: rotate the heads of q and k in one instruction; needs `fuse_qkv`.
        onchip: place short-lived tensors in on-chip memory if they fit.
        host_head: exclude the head from the graph. The result is the last token's normalised channels, and the host multiplies.
    """

    tokens: int = 32
    positions: int = 512
    fuse_qkv: bool = True
    join_rope: bool = True
    onchip: bool = True
    host_head: bool = False

    def __post_init__(self) -> None:
        """Raises FleetError if a size is invalid."""
        if not 1 <= self.tokens <= self.positions:
            raise FleetError(
                f"{self.tokens} tokens a step and {self.positions} positions, expected 1 <= tokens <= positions", where="plan"
            )
        if self.join_rope and not self.fuse_qkv:
            raise FleetError("join_rope without fuse_qkv: the heads of q and k do not stand side by side", where="plan")


CLASSIC = ModelOptions(fuse_qkv=False, join_rope=False, onchip=False)
"""17 operations per block, as in the public compiler, all tensors in DDR."""

SHORT = ModelOptions()
"""14 operations per block; measured as the fastest on small models (docs/language-models.md)."""
