from collections import Counter, defaultdict, deque

import numpy as np

data = np.array([3, 1, 3, 2, 1, 3])
c = Counter(data.tolist())
print(c.most_common(1), c[99], c.total(), sorted(c.elements()), c)
c.update([1, 1, 5])
c.subtract({3: 2})
print(c, c.most_common(), len(c), Counter())
groups = defaultdict(list)
for i, v in enumerate(data):
    groups[int(v)].append(i)
print(dict(groups), groups[7], len(groups), groups)
counts = defaultdict(int)
for w in "a b a c".split():
    counts[w] += 1
print(counts, counts["z"], sorted(counts.items()))
nested = defaultdict(lambda: np.zeros(2))
nested["x"] += 1
nested["x"][0] = 5
print(nested["x"], "y" in nested)
q = deque([1, 2, 3])
q.appendleft(0)
q.append(4)
print(q, q.popleft(), q.pop(), len(q), q[0], list(q))
q.rotate(1)
q.extendleft([8, 9])
print(q, sum(q))
last = deque(maxlen=3)
for k in range(6):
    last.append(k * 1.5)
print(last, np.mean(last), deque([1, 2, 3, 4], 2))
todo, seen = deque([(0, 0)]), {(0, 0)}
while todo:
    i, j = todo.popleft()
    for a, b in ((i + 1, j), (i, j + 1)):
        if a < 3 and b < 3 and (a, b) not in seen:
            seen.add((a, b))
            todo.append((a, b))
print(len(seen), bool(todo))
