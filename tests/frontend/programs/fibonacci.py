a, b = 0, 1
values = []
while len(values) < 15:
    values.append(a)
    a, b = b, a + b
print(values, sum(values), max(values), sorted(values, reverse=True)[:3], sorted(["b", "a"]), sorted([3, 1], key=lambda v: -v))
