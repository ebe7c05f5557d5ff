# forward(x: float32[8, 12], w1: float32[12, 16], b1: float32[16], g: float32[16], w2: float32[16, 4], b2: float32[4])
#! F508: the model's function takes **weights
"""Inference with a registry of layers chosen by name, config dict and *args."""
import numpy as np

REGISTRY = {}


def register(name):
    def inner(cls):
        REGISTRY[name] = cls
        cls.kind = name
        return cls
    return inner


class Layer:
    def __init__(self, *params, **opts):
        self.params = params
        self.__dict__.update(opts)

    def __call__(self, x):
        raise NotImplementedError

    def __rshift__(self, other):
        return Sequential(self, other)


@register("dense")
class Dense(Layer):
    def __call__(self, x):
        w, b = self.params
        return x @ w + b


@register("gelu")
class Gelu(Layer):
    approx = True

    def __call__(self, x):
        if self.approx:
            return 0.5 * x * (1 + np.tanh(np.sqrt(np.float32(2 / np.pi)) * (x + np.float32(0.044715) * np.power(x, 3))))
        return x


@register("rmsnorm")
class RMSNorm(Layer):
    def __call__(self, x):
        (g,) = self.params
        return x * g / np.sqrt((x**2).mean(axis=-1, keepdims=True) + np.float32(self.eps))


class Sequential(Layer):
    def __init__(self, *layers):
        super().__init__()
        self.layers = [l for x in layers for l in (x.layers if isinstance(x, Sequential) else [x])]

    def __call__(self, x):
        for l in self.layers:
            x = l(x)
        return x

    def __len__(self):
        return len(self.layers)


CONFIG = [
    ("dense", ("w1", "b1"), {}),
    ("rmsnorm", ("g",), dict(eps=1e-6)),
    ("gelu", (), {"approx": True}),
    ("dense", ("w2", "b2"), {}),
]


def forward(x, **weights):
    net, *rest = [REGISTRY[k](*(weights[p] for p in ps), **o) for k, ps, o in CONFIG]
    for layer in rest:
        net = net >> layer
    logits = net(x)
    top = np.argsort(logits, axis=-1)[:, ::-1][:, :2]
    return logits, top, np.take_along_axis(logits, top, axis=-1), len(net)
