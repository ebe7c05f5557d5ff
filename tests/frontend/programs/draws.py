import numpy as np

rng = np.random.default_rng(3)
total = 0.0
for k in range(4):
    total += k * 0.1 + rng.normal()
print(total, rng.random(), rng.uniform(1, 2), rng.integers(5), rng.choice(4))
print(rng.choice([-1, 1], size=(2, 5)), rng.choice(np.array([1.5, 2.5, 3.5])))
print(rng.choice(5, size=6, p=[0.1, 0.2, 0.3, 0.3, 0.1]), rng.choice(3, p=np.array([0.2, 0.5, 0.3])))
print(rng.choice(["a"] and [10, 20, 30], 2, replace=False))
x = np.arange(12.0).reshape(6, 2)
y = x[1:]
rng.shuffle(y)
print(x, rng.permutation(x)[0], rng.permutation([4, 5, 6]))
cards = [1, 2, 3, 4, 5]
rng.shuffle(cards)
print(cards)

np.random.seed(1)
a = np.random.rand()
print(a, np.random.randn() * 2, np.random.randint(3, 9), np.random.normal(5, 2), np.random.uniform())
order = np.random.permutation(5)
np.random.shuffle(order)
print(order, np.random.choice(order, 3), np.random.choice(order))
inside = 0
for _ in range(50):
    u, v = np.random.random(), np.random.random()
    if u * u + v * v <= 1:
        inside += 1
print(4 * inside / 50)
state = np.zeros(5)
for i in range(5):
    state[i] = np.random.choice([0.25, 0.5], p=[0.7, 0.3]) + np.random.exponential(2.0)
print(state)
