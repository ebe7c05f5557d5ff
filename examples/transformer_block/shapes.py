"""Shapes of transformer blocks: what a block of ChatGLM2 has, and a small one of the same kind."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """One pre-norm decoder block with grouped-query attention and a gated feed-forward network.

    Attributes:
        channels: width of the residual stream.
        heads, kv_heads, head: query heads, key/value heads, channels of a head.
        ffn: width of the feed-forward network.
        rotary: channels of a head that are rotated, the first ones, in adjacent pairs (ChatGLM2 rotates half of them).
        tblk: inputs that share one scale.
        bias: the linear layers have biases (all of them, so that every path counts; ChatGLM2 has those of q, k and v).
    """

    name: str
    channels: int
    heads: int
    kv_heads: int
    head: int
    ffn: int
    rotary: int
    tblk: int = 128
    bias: bool = True

    @property
    def query(self) -> int:
        """Channels of all query heads."""
        return self.heads * self.head

    @property
    def key(self) -> int:
        """Channels of all key (or value) heads."""
        return self.kv_heads * self.head


CHATGLM2 = Shape("chatglm2", channels=4096, heads=32, kv_heads=2, head=128, ffn=13696, rotary=64)
"""ChatGLM2-6B (THUDM): 4,096 channels, 32 heads of 128 with 2 key/value heads, gated FFN of 13,696."""

SMALL = Shape("small", channels=256, heads=4, kv_heads=2, head=64, ffn=320, rotary=32)
"""The same kind for quick runs; the FFN is no multiple of the quantisation group."""

SMOLLM2 = Shape("smollm2", channels=576, heads=9, kv_heads=3, head=64, ffn=1536, rotary=64, bias=False)
"""SmolLM2-135M (Hugging Face): 576 channels, 9 heads of 64 with 3 key/value heads, gated FFN of 1,536; a model has thirty."""

SHAPES = {shape.name: shape for shape in (CHATGLM2, SMALL, SMOLLM2)}
