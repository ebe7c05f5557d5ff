a = [1, 2, 3]
b = a
b.append(4)
a.extend([5, 6])
a.insert(0, 0)
print(a, b is a, a.index(4), a.count(2), a.pop(), a.pop(0), len(a))
a[1] = "two"
a[2:4] = [30]
del a[0]
print(a, b, a[::-1], a[-1], a + [9], a * 2, [0] * 3)
a += [7]
print(b)
c = a.copy()
c.clear()
c.reverse()
print(c, a)
first, *middle, last = range(5)
print(first, middle, last)
(p, q), r = (1, 2), [3]
print(p, q, r)
