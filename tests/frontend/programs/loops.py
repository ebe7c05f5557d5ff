import numpy as np
x = np.zeros(3)
for i in range(5):
    if i == 1:
        continue
    if i == 4:
        break
    x = x + i
else:
    x = x * 100
print(x)
n = 0
while n < 10:
    n += 3
else:
    n = -n
print(n)
for i, (a, b) in enumerate(zip([1, 2, 3], "abc"), start=1):
    print(i, a, b)
for k in reversed(range(0, 10, 3)):
    print(k, end=" ")
print()
total = 0
for row in np.arange(6).reshape(2, 3):
    total = total + row
print(total)
