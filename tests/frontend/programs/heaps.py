import heapq
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

heap = []
for n in (5, 1, 8, 3, 1):
    heappush(heap, n)
print(heap, [heappop(heap) for _ in range(len(heap))])
tasks = [(2, "b"), (1, "z"), (2, "a")]
heapq.heapify(tasks)
print(tasks, heapq.heappushpop(tasks, (0, "x")), heapq.heapreplace(tasks, (9, "y")), tasks)
print(heapq.nsmallest(2, [4, 2, 7]), heapq.nlargest(2, np.array([4, 2, 7])))


@dataclass
class Job:
    cost: float
    path: list

    def __lt__(self, other):
        return self.cost < other.cost


jobs = []
for cost in np.array([2.5, 0.5, 1.5]):
    heappush(jobs, Job(float(cost), [cost]))
print([heappop(jobs).cost for _ in range(3)])
try:
    heappop(jobs)
except IndexError as e:
    print("empty:", e)
