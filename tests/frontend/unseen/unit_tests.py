#! F506: np.nditer with flags
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def one_hot(y, n):
    out = np.zeros((y.size, n))
    out[np.arange(y.size), y] = 1
    return out


def numeric_grad(f, x, eps=1e-6):
    g = np.zeros_like(x)
    it = np.nditer(x, flags=["multi_index"])
    for _ in it:
        i = it.multi_index
        old = x[i]
        x[i] = old + eps
        hi = f(x)
        x[i] = old - eps
        lo = f(x)
        x[i] = old
        g[i] = (hi - lo) / (2 * eps)
    return g


def loss(logits):
    return -np.log(softmax(logits)[np.arange(3), labels]).mean()


labels = np.array([0, 2, 1])
logits = np.random.default_rng(0).normal(size=(3, 4))


def test_softmax_rows():
    assert_allclose(softmax(logits).sum(axis=1), np.ones(3))


def test_one_hot():
    assert_array_equal(one_hot(labels, 3), [[1, 0, 0], [0, 0, 1], [0, 1, 0]])


def test_gradient():
    analytic = (softmax(logits) - one_hot(labels, 4)) / 3
    np.testing.assert_almost_equal(numeric_grad(loss, logits), analytic, decimal=6)


for test in (test_softmax_rows, test_one_hot, test_gradient):
    test()
    print(test.__name__, "passed")
