import random
import itertools
import collections
import numpy as np

random.seed(2024)
Point = collections.namedtuple("Point", "x y")
MOVES = [Point(0, 1), Point(1, 0), Point(0, -1), Point(-1, 0)]


def walk(n):
    p = Point(0, 0)
    for _ in range(n):
        m = random.choice(MOVES)
        p = Point(p.x + m.x, p.y + m.y)
        yield p


ends = []
for trial in range(5):
    *_, last = walk(50)
    ends.append(last)
print(ends)
d = np.array([np.hypot(p.x, p.y) for p in ends])
print(f"mean distance {d.mean():.3f} +/- {d.std(ddof=1) / len(d) ** 0.5:.3f}")

deck = [f"{r}{s}" for s in "SHDC" for r in "23456789TJQKA"]
random.shuffle(deck)
hand, deck = deck[:5], deck[5:]
print(hand, len(deck))
print(random.sample(range(100), 5), random.randint(1, 6), round(random.gauss(0, 1), 6))
print(random.choices("abc", weights=[5, 1, 1], k=8))
suits = collections.Counter(c[-1] for c in hand)
print(suits.most_common(1), sorted(suits.items()))
inside = sum(random.random() ** 2 + random.random() ** 2 <= 1 for _ in range(500))
print("pi ~", 4 * inside / 500)
acc = list(itertools.accumulate([random.expovariate(1.5) for _ in range(6)]))
print([round(a, 4) for a in acc])
chunks = list(itertools.zip_longest(*[iter(range(7))] * 3, fillvalue=-1))
print(chunks)
print(list(itertools.chain.from_iterable(itertools.islice(itertools.permutations("abc", 2), 4))))
