import numpy as np
x = np.zeros(3)
y = x
x += 2
x *= 3
print(x, y)
z = np.ones(2, np.float32)
z += 0.5
z /= 3
print(z, z.dtype)
s = x.sum()
t = s
s += 1
print(s, t)
n = 5
n -= 2
n **= 3
n //= 2
print(n)
m = np.ones((2, 2)) * 2
m @= np.eye(2)
m -= np.arange(2)
print(m)
places = iter([2, 0, 1])
counts = [1, 1, 1]
counts[next(places)] += 5
table = {"a": [0]}
table["a"][next(places)] -= 1
print(counts, table, next(places))
