# process(x: float32[100])
import numpy as np


class Biquad:
    def __init__(self, b, a):
        self.b = np.asarray(b, dtype=np.float32)
        self.a = np.asarray(a, dtype=np.float32)
        self.z1 = np.float32(0)
        self.z2 = np.float32(0)

    def __call__(self, x):
        y = np.empty_like(x)
        for i in range(len(x)):
            out = self.b[0] * x[i] + self.z1
            self.z1 = self.b[1] * x[i] - self.a[1] * out + self.z2
            self.z2 = self.b[2] * x[i] - self.a[2] * out
            y[i] = out
        return y


def process(x):
    stages = [Biquad([0.2, 0.4, 0.2], [1.0, -0.4, 0.2]), Biquad([0.3, 0.1, 0.3], [1.0, 0.2, 0.1])]
    for stage in stages:
        x = stage(x)
    return x
