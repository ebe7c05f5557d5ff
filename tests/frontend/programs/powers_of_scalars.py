# Of a NumPy scalar, `**` is the C library's pow and np.power NumPy's own loop: a third of all float32 have other bits.
import numpy as np

x = np.linspace(0.05, 0.95, 40, dtype=np.float32)
for i in range(40):
    scalar = np.tanh(np.sqrt(x[i]))
    exact = scalar.astype(np.float64)
    array = np.array(scalar)
    print(np.power(scalar, 3), scalar**3, np.power(scalar, scalar), scalar**scalar, np.power(exact, 3), exact**3)
    print(np.power(3, scalar), 3**scalar, np.power(scalar, np.float32(1.7)), scalar ** np.float32(1.7), np.power(2.5, i))
    print(array**3, np.power(array, 3), array**scalar, scalar**array, array.shape)
    array **= 3
    print(array, pow(scalar, 3))
print(np.power(np.tanh(np.sqrt(np.float32(0.1))), 3), np.power(-0.0, 0.5), np.power(np.float32(-0.0), 0.5), np.float32(-0.0) ** 0.5)
