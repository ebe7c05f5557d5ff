if (n := 10) > 5:
    print(n)
print([y := 1, y + 1], y)
values = [last := v for v in range(4)]
print(values, last)
a = b = [1]
a.append(2)
print(b)
x, y = 1, 2
x, y = y, x
print(x, y)
