import math
from functools import reduce
import numpy as np


def primes_upto(n):
    is_prime = np.ones(n + 1, dtype=bool)
    is_prime[:2] = False
    for i in range(2, int(math.sqrt(n)) + 1):
        if is_prime[i]:
            is_prime[i * i :: i] = False
    return np.flatnonzero(is_prime)


def factorise(n, primes):
    factors = {}
    for p in primes:
        p = int(p)
        while n % p == 0:
            factors[p] = factors.get(p, 0) + 1
            n //= p
        if n == 1:
            break
    return factors


primes = primes_upto(100)
print(len(primes), primes[-5:])
print(factorise(5040, primes))
nums = [12, 18, 30]
print(reduce(math.gcd, nums), reduce(lambda a, b: a * b // math.gcd(a, b), nums))
print(np.gcd.reduce(nums), np.lcm.reduce(nums))
twins = [(int(a), int(b)) for a, b in zip(primes, primes[1:]) if b - a == 2]
print(twins[:4])
