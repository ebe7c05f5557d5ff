from abc import ABC, abstractmethod
from typing import NamedTuple, Protocol, Optional, Callable
import numpy as np
class Layer(ABC):
    registry: dict = {}
    def __init_subclass__(cls, **kw):
        super().__init_subclass__(**kw)
        Layer.registry[cls.__name__] = cls
    @abstractmethod
    def forward(self, x): ...
    def __call__(self, x):
        return self.forward(x)
class Linear(Layer):
    def __init__(self, n_in, n_out, rng):
        self.w = rng.standard_normal((n_in, n_out)) * (2 / n_in) ** .5
        self.b = np.zeros(n_out)
    def forward(self, x): return x @ self.w + self.b
    @property
    def n_params(self): return self.w.size + self.b.size
class ReLU(Layer):
    n_params = 0
    def forward(self, x): return x.clip(min=0)
class Stats(NamedTuple):
    mean: float
    std: float
    @classmethod
    def of(cls, x): return cls(float(x.mean()), float(x.std()))
class Seq(Layer):
    def __init__(self, *layers): self.layers = list(layers)
    def forward(self, x):
        for l in self.layers:
            x = l(x)
        return x
    def __len__(self): return len(self.layers)
    def __getitem__(self, i): return self.layers[i]
    def __iter__(self): return iter(self.layers)
    n_params = property(lambda self: sum(l.n_params for l in self))
rng = np.random.default_rng(1)
net = Seq(Linear(4, 8, rng), ReLU(), Linear(8, 3, rng))
y = net(rng.standard_normal((5, 4)))
s = Stats.of(y)
print(s, s._asdict(), net.n_params, len(net), type(net[1]).__name__, sorted(Layer.registry))
try:
    Layer()
except TypeError as e:
    print("abstract")
