import numpy as np


def lfsr(taps, state, n):
    """Fibonacci LFSR; yields bits."""
    nbits = max(taps)
    for _ in range(n):
        yield state & 1
        bit = 0
        for t in taps:
            bit ^= state >> (nbits - t)
        state = (state >> 1) | ((bit & 1) << (nbits - 1))


bits = np.fromiter(lfsr((5, 3), 0b00001, 62), dtype=np.int8)
period = next(p for p in range(1, 62) if np.array_equal(bits[:31], np.roll(bits[:31], -p)))
chips = 1 - 2 * bits[:31].astype(int)
acf = np.array([np.dot(chips, np.roll(chips, k)) for k in range(31)])
print("bits:", "".join(map(str, bits[:31])))
print("period:", period, "ones:", bits[:31].sum())
print("acf:", acf[0], np.unique(acf[1:]))

data = np.array([1, -1, 1, 1])
spread = np.repeat(data, 31) * np.tile(chips, 4)
received = spread + np.random.default_rng(6).normal(0, 2.0, spread.size)
decoded = np.sign(received.reshape(-1, 31) @ chips)
print("decoded:", decoded.astype(int), "errors:", np.count_nonzero(decoded != data))
