"""A function for `test_jit_gpu`: it is compiled for a GPU, where none may be."""

import numpy as np

from fleet import jit


@jit(target="gpu")
def twice(x: np.ndarray) -> np.ndarray:
    return x + x


twice(np.ones(3, np.float32))
