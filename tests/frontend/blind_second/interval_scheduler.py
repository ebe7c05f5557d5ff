import bisect
import sys
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, order=True)
class Job:
    end: int
    start: int
    weight: float

    def overlaps(self, other: "Job") -> bool:
        return self.start < other.end and other.start < self.end


def weighted_schedule(jobs):
    jobs = sorted(jobs)
    ends = [j.end for j in jobs]
    best = [0.0]
    choice = []
    for i, job in enumerate(jobs):
        k = bisect.bisect_right(ends, job.start, 0, i)
        take = best[k] + job.weight
        choice.append(k if take > best[i] else None)
        best.append(max(best[i], take))
    picked, i = [], len(jobs)
    while i > 0:
        if choice[i - 1] is None:
            i -= 1
        else:
            picked.append(jobs[i - 1])
            i = choice[i - 1]
    return best[-1], picked[::-1]


def main() -> int:
    rng = np.random.default_rng(9)
    starts = rng.integers(0, 20, 10)
    jobs = {Job(int(s + d), int(s), round(float(w), 1)) for s, d, w in zip(starts, rng.integers(1, 8, 10), rng.uniform(1, 9, 10))}
    value, picked = weighted_schedule(jobs)
    print(f"{len(jobs)} jobs, best value {value:.1f}", file=sys.stdout)
    for job in picked:
        print(f"  [{job.start:2d}, {job.end:2d})", "#" * round(job.weight))
    clash = any(a.overlaps(b) for i, a in enumerate(picked) for b in picked[i + 1:])
    print("clash" if clash else "no clash")
    load = np.zeros(30, int)
    for j in jobs:
        load[j.start:j.end] += 1
    print("peak load", load.max(), "at", np.flatnonzero(load == load.max()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
