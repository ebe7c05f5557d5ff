"""Classes of a model's file: what their objects hold becomes weights with their paths, and what is left out is refused by name."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_source import program_of, run_python, run_vm

from fleet.engines.base import RunOptions
from fleet.engines.cpython import ENGINE as CPYTHON
from fleet.engines.riscv import ENGINE as RISCV
from fleet.engines.vm import ENGINE as VM_ENGINE
from fleet.errors import SourceError
from fleet.frontend.interpreter import run
from fleet.ir.dialect import op_id

X = np.linspace(-1, 1, 12).reshape(3, 4)
MODEL = """import numpy as np
from dataclasses import dataclass

@dataclass
class Config:
    width: int = 4
    layers: int = 2

class Module:
    def __call__(self, x):
        return self.forward(x)

class Norm(Module):
    def __init__(self, n):
        self.g = np.linspace(0.5, 1.5, n)
        self.eps = 1e-5

    def forward(self, x):
        centred = x - x.mean(-1, keepdims=True)
        return self.g * centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + self.eps)

class Attention(Module):
    def __init__(self, rng, n):
        self.w = rng.normal(0, 0.3, (n, 3 * n))
        self.seen = 0

    def forward(self, x):
        self.seen += 1
        q, k, v = np.split(x @ self.w, 3, axis=-1)
        s = q @ k.T / np.sqrt(q.shape[-1])
        e = np.exp(s - s.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True) @ v

class Block(Module):
    def __init__(self, rng, n):
        self.norm, self.attn = Norm(n), Attention(rng, n)

    def forward(self, x):
        return x + self.attn(self.norm(x))

class Model(Module):
    def __init__(self, config):
        rng = np.random.default_rng(0)
        self.config = config
        self.blocks = [Block(rng, config.width) for _ in range(config.layers)]
        self.head = rng.normal(0, 0.3, (config.width, 5))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x @ self.head

model = Model(Config())

def forward(x: "float64[N, 4]"):
    h = model.blocks[0].norm(x)
    logits = model(x)
    return logits, h, model.blocks[1].attn.seen
"""


def test_weights_are_named_after_their_path_and_operations_after_their_class(tmp_path) -> None:
    program = program_of(tmp_path, MODEL, x=X)
    weights = [a.name for a in program.arguments if a.kind == "weight"]
    names = ["model.blocks.0.attn.w", "model.blocks.0.norm.g", "model.blocks.1.attn.w", "model.head"]
    assert sorted(weights) == names  # both norms are made by the same call: one weight
    ids = {op_id(o) for o in program.operations()}
    assert {"Norm.centred", "Attention.q", "logits", "h"} <= ids


def test_python_the_vm_and_riscv_agree(tmp_path) -> None:
    program = program_of(tmp_path, MODEL, x=X)
    vm, python, riscv = (e.run(program, {"x": X}, RunOptions()) for e in (VM_ENGINE, CPYTHON, RISCV))
    assert {"h", "logits"} <= set(python.tensors)  # compared operation by operation
    for name, value in python.outputs.items():
        np.testing.assert_array_equal(vm.outputs[name], value)
        np.testing.assert_allclose(riscv.outputs[name], value, rtol=1e-12)
    for name, value in python.tensors.items():
        np.testing.assert_array_equal(vm.tensors[name], value)
    np.testing.assert_array_equal(run(f"{tmp_path / 'model.py'}:forward", {"x": X}).returned[0], python.outputs["logits"])


def test_objects_of_one_class_within_one_another_are_no_recursion(tmp_path) -> None:
    text = """
class Seq:
    def __init__(self, *parts):
        self.parts = parts
    def __call__(self, x):
        for p in self.parts:
            x = p(x)
        return x
def twice(f):
    def g(x):
        return f(f(x))
    return g
def forward(x):
    inc = lambda v: v + 1
    return Seq(Seq(inc, Seq(inc)), inc)(x) + twice(twice(inc))(x)
"""
    for found, expected in zip(run_vm(tmp_path, text, x=X).values(), run_python(text, x=X), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("body", "place", "says"),
    [
        ("class A(metaclass=type): pass", ":1:", "F502 a class with `metaclass=`"),
        ("class A: pass\nclass B(A): pass\nclass C(A, B): pass", ":3:1", "F701 `C`: no order of the classes"),
        ("class A(int): pass", ":1:9", "F502 a class that inherits from `int`"),
        ("class A:\n    def __getattribute__(self, n):\n        pass", ":2:5", "F502 `__getattribute__` of a class is not"),
        ("class A:\n    def __del__(self):\n        return 1", ":2:5", "F502 `__del__`"),
        ("class A:\n    def __array__(self):\n        return 1", ":2:5", "F502 `__array__`"),
        ("@np.sum\nclass A: pass\nA()", ":1:2", "F508 the class `A` is decorated by"),
        ("class A:\n    @np.sum\n    def f(self): pass\nA()", ":2:6", "F508 `f` is decorated"),
        ("class A: pass\nprint(A().x)", ":2:7", "F206 an object of the class `A` has no attribute `x`"),
        ("class A: pass\nA(1)", ":2:1", "F208 `A` has no __init__ and takes no arguments"),
        ("class A:\n    def f(self): pass\nA().f(1)", ":3:1", "F208 `f` takes 1 positional arguments, 2 are given"),
        ("class A: pass\nA()()", ":2:1", "F408 an object of the class `A` cannot be called"),
        ("class A: pass\nprint(A())", ":2:", "F408 an object of the class `A` has no text of its own"),
        ("class A: pass\nA() + 1", ":2:1", "F408 an object of the class `A` and the number 1 have no add"),
        ("class A: pass\nA() < A()", ":2:1", "have no order"),
        ("class A: pass\nnp.sum(A())", ":2:1", "F408 expected an array or a number, found an object of the class `A`"),
        ("class A:\n    def __add__(self, o):\n        return 1\nnp.ones(2) + A()", ":4:1", "which NumPy applies element"),
        ("class A:\n    f = np.sum\nA().f(np.ones(2))", ":3:1", "F206 `f` is numpy.sum as an attribute of the class"),
        ("class A:\n    @property\n    def p(self): return 1\nA().p = 2", ":4:1", "F206 the property `p` of `A` has no setter"),
        ("class A:\n    __slots__ = ('x',)\na = A()\na.y = 1", ":4:1", "F206 `y` is in no __slots__"),
        ("class A:\n    def f(self): return self.f()\nA().f()", ":2:", "F606 `f` calls itself"),
        ("from dataclasses import dataclass\n@dataclass(frozen=True)\nclass A:\n    x: int\nA(1).x = 2", ":5:1", "`A` is frozen"),
        ("from dataclasses import dataclass\n@dataclass\nclass A:\n    x: list = []", ":4:5", "all objects would share"),
        ("from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 1\n    y: int", ":2:", "follows `x`, which"),
        ("from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\nA()", ":5:1", "F208 `A` is called without x"),
        ("import abc\nclass A(abc.ABC):\n    @abc.abstractmethod\n    def f(self): ...\nA()", ":5:1", "F701 `A` is abstract"),
        ("class A:\n    def f(self):\n        return [super() for _ in range(1)]\nA().f()", ":3:", "F503 super()"),
        ("x = np.ones(2)\nx.shape = (1, 2)", ":2:1", "F504 assignment to `.shape` of an array"),
    ],
)  # fmt: skip
def test_what_is_left_out_is_refused_by_name_at_its_place(tmp_path, body: str, place: str, says: str) -> None:
    with pytest.raises(SourceError) as caught:
        program_of(tmp_path, f"import numpy as np\n{body}\n", None)
    message = str(caught.value).replace(str(tmp_path / "model.py"), "")
    assert says in message
    line, _, column = place.strip(":").partition(":")
    assert message.startswith(f":{int(line) + 1}:{column}"), message


def test_a_class_that_cannot_be_read_is_an_error_where_it_is_used(tmp_path) -> None:
    text = "class Bad(bytes):\n    pass\nclass Good:\n    k = 2\nbad = Bad()\ndef forward(x):\n    return x * Good.k\n"
    np.testing.assert_array_equal(run_vm(tmp_path, text, x=X)["out0"], X * 2)
    with pytest.raises(SourceError, match=r"F502 a class that inherits from `bytes`"):
        program_of(tmp_path, text.replace("Good.k", "Bad.k"), x=X)
