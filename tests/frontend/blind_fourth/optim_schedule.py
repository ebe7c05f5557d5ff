import numpy as np
import logging
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

logging.basicConfig(level=logging.INFO)
logger = logging.getLogger()


class Schedule(str, Enum):
    CONST = "const"
    COSINE = "cosine"
    WARMUP = "warmup"

    @classmethod
    def parse(cls, s):
        with suppress(ValueError):
            return cls(s.lower())
        raise KeyError(f"unknown schedule {s}")


@dataclass
class TrainState:
    w: np.ndarray
    step: int = 0
    best: float = np.inf
    patience: int = 3
    bad: int = 0

    def update(self, loss):
        self.step += 1
        if loss < self.best - 1e-4:
            self.best, self.bad = loss, 0
        else:
            self.bad += 1
        return self.bad >= self.patience


def lr_at(kind, step, total, base=0.3):
    match kind:
        case Schedule.CONST:
            return base
        case Schedule.COSINE:
            return base * 0.5 * (1 + np.cos(np.pi * step / total))
        case Schedule.WARMUP if step < 5:
            return base * (step + 1) / 5
        case Schedule.WARMUP:
            return base * (5 / (step + 1)) ** 0.5


def clip_grad(g, max_norm=1.0):
    n = np.linalg.norm(g)
    return g * (max_norm / n) if n > max_norm else g


def loss_fn(w, X, y):
    z = X @ w
    p = 1.0 / (1.0 + np.exp(-z))
    eps = 1e-12
    loss = -np.mean(y * np.log(p + eps) + (1 - y) * np.log(1 - p + eps))
    return loss, X.T @ (p - y) / len(y)


rng = np.random.default_rng(10)
X = rng.normal(size=(60, 5))
y = (X[:, 0] - 2 * X[:, 3] > 0).astype(float)
for name in ("const", "COSINE", "warmup"):
    st = TrainState(np.zeros(5))
    kind = Schedule.parse(name)
    for i in range(25):
        loss, g = loss_fn(st.w, X, y)
        if st.update(loss):
            logger.info("early stop at %d", i)
            break
        st.w -= lr_at(kind, i, 25) * clip_grad(g)
    print(f"{kind.value:8s} {st.step:3d} {st.best:.5f} {kind.name} {kind == 'cosine'}")
try:
    Schedule.parse("step")
except KeyError as e:
    print("KeyError", e)
print(st)
