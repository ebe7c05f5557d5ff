from __future__ import annotations
from dataclasses import dataclass, field, fields, asdict, astuple
from typing import Any, ClassVar, Generic, TypeVar, overload, TypeAlias, Self
import math
import numpy as np
import numpy.typing as npt

F32: TypeAlias = npt.NDArray[np.float32]
T = TypeVar("T")


@dataclass(slots=True, frozen=True)
class ViTConfig:
    image: int = 8
    patch: int = 4
    dim: int = 16
    heads: int = 2
    depth: int = 2
    classes: int = 5
    mlp_ratio: float = 2.0

    def __post_init__(self) -> None:
        if self.image % self.patch:
            raise ValueError("image not divisible by patch")

    @property
    def tokens(self) -> int:
        return (self.image // self.patch) ** 2 + 1


class Store(Generic[T]):
    def __init__(self) -> None:
        self._items: dict[str, T] = {}

    def put(self, key: str, value: T) -> Self:
        self._items[key] = value
        return self

    def __getattr__(self, name: str) -> T:
        try:
            return self.__dict__["_items"][name]
        except KeyError:
            raise AttributeError(name) from None


def trunc_normal(rng: np.random.Generator, shape, std=0.02) -> F32:
    return np.clip(rng.normal(0, std, shape), -2 * std, 2 * std).astype(np.float32)


class LayerNorm:
    def __init__(self, d: int):
        self.g: F32 = np.ones(d, dtype=np.float32)
        self.b: F32 = np.zeros(d, dtype=np.float32)

    def __call__(self, x: F32, /, *, eps: float = 1e-6) -> F32:
        m = x.mean(axis=-1, keepdims=True)
        v = ((x - m) ** 2).mean(axis=-1, keepdims=True)
        return (x - m) / np.sqrt(v + eps) * self.g + self.b


class Block:
    count: ClassVar[int] = 0

    def __init__(self, cfg: ViTConfig, rng):
        type(self).count += 1
        d, hdim = cfg.dim, int(cfg.dim * cfg.mlp_ratio)
        self.h = cfg.heads
        self.n1, self.n2 = LayerNorm(d), LayerNorm(d)
        self.w = Store().put("qkv", trunc_normal(rng, (d, 3 * d))).put("proj", trunc_normal(rng, (d, d)))
        self.w.put("fc1", trunc_normal(rng, (d, hdim))).put("fc2", trunc_normal(rng, (hdim, d)))

    def __call__(self, x):
        b, n, d = x.shape
        qkv = (self.n1(x) @ self.w.qkv).reshape(b, n, 3, self.h, -1).transpose(2, 0, 3, 1, 4)
        q, k, v = qkv
        a = q @ k.swapaxes(-1, -2) * (d // self.h) ** -0.5
        a = np.exp(a - a.max(-1, keepdims=True))
        a /= a.sum(-1, keepdims=True)
        x = x + np.moveaxis(a @ v, 1, 2).reshape(b, n, d) @ self.w.proj
        y = self.n2(x) @ self.w.fc1
        y = y / (1 + np.exp(-1.702 * y))
        return x + y @ self.w.fc2


class ViT:
    def __init__(self, cfg: ViTConfig, seed: int = 0):
        rng = np.random.default_rng(seed)
        self.cfg = cfg
        self.embed = trunc_normal(rng, (cfg.patch**2 * 3, cfg.dim))
        self.cls = trunc_normal(rng, (1, 1, cfg.dim))
        self.pos = trunc_normal(rng, (1, cfg.tokens, cfg.dim))
        self.blocks = [Block(cfg, rng) for _ in range(cfg.depth)]
        self.norm = LayerNorm(cfg.dim)
        self.head = trunc_normal(rng, (cfg.dim, cfg.classes))

    def patchify(self, x):
        b, c, h, w = x.shape
        p = self.cfg.patch
        x = x.reshape(b, c, h // p, p, w // p, p)
        return np.einsum("bchpwq->bhwpqc", x).reshape(b, -1, p * p * c)

    def __call__(self, x):
        x = self.patchify(x) @ self.embed
        x = np.concatenate([np.broadcast_to(self.cls, (len(x), 1, self.cfg.dim)), x], axis=1) + self.pos
        for blk in self.blocks:
            x = blk(x)
        return self.norm(x)[:, 0] @ self.head


cfg = ViTConfig(depth=1)
model = ViT(cfg)


def forward(images: "float32[N, 3, 8, 8]") -> F32:
    return model(images)


if __name__ == "__main__":
    print(asdict(cfg), [f.name for f in fields(cfg)][:2], astuple(cfg)[-1], Block.count)
    out = forward(np.random.default_rng(1).random((2, 3, 8, 8), dtype=np.float32))
    print(out.shape, out.dtype, math.isfinite(out.sum()))
    print((out * 1e3).round(3))
    try:
        ViTConfig(image=9)
    except ValueError as exc:
        print(type(exc).__name__, exc)
