import numpy as np

x = np.float32(1.5)
print(np.float64, type(x), type(x).__name__, x.dtype, x.dtype.type, np.int8.__name__, type(np.arange(2)[0]) is np.int64)
print(type(None).__name__, type(1), type("a"), type([1]).__name__, type(b"").__name__, type(lambda: 0).__name__, type({1}))
print(np.zeros(2, dtype=np.float32).dtype, np.dtype(np.int16), np.dtype("f8") == np.float64, np.issubdtype(x.dtype, np.floating))
print([np.array([1, None]), np.array([b"x", b"yz"])], np.array([None, "a"])[1])
