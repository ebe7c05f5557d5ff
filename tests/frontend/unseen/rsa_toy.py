import random

import numpy as np


def egcd(a, b):
    if a == 0:
        return b, 0, 1
    g, y, x = egcd(b % a, a)
    return g, x - (b // a) * y, y


def modinv(a, m):
    g, x, _ = egcd(a, m)
    if g != 1:
        raise ValueError("no inverse")
    return x % m


def is_prime(n):
    if n < 2:
        return False
    for d in range(2, int(n**0.5) + 1):
        if n % d == 0:
            return False
    return True


random.seed(5)
primes = [p for p in range(50, 120) if is_prime(p)]
p, q = random.sample(primes, 2)
n, phi = p * q, (p - 1) * (q - 1)
e = 17
d = modinv(e, phi)
message = "NumPy"
codes = np.array([ord(c) for c in message])
cipher = [pow(int(c), e, n) for c in codes]
plain = "".join(chr(pow(c, d, n)) for c in cipher)
print(p, q, n, d)
print(cipher)
print(plain)
try:
    modinv(6, 9)
except ValueError as err:
    print("error:", err)
