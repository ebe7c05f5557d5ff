a = 3
b = 40
print(a + b, a - b, a * b, b // a, b % a, a / b, -b // a, -b % a, 2**10, 2**-1)
print(7 / 2, 7 // 2.0, -7 % 2.5, True + True, 1 << 10, 1024 >> 3, 6 & 3, 6 | 3, 6 ^ 3, ~5, +True)
print(0.1 + 0.2, 1e300 * 1e10, 10**18, abs(-3.5), round(2.5), round(3.14159, 2), divmod(17, 5), pow(2, 8))
