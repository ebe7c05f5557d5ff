#!/usr/bin/env python3
from __future__ import annotations
import random
from dataclasses import dataclass, field, asdict, replace
from functools import total_ordering, cached_property
import numpy as np


@total_ordering
@dataclass(eq=False)
class Team:
    name: str
    rating: float = 1500.0
    record: dict[str, int] = field(default_factory=lambda: {"w": 0, "d": 0, "l": 0})

    def __eq__(self, other): return self.points == other.points and self.rating == other.rating
    def __lt__(self, other): return (self.points, self.rating) < (other.points, other.rating)
    def __hash__(self): return hash(self.name)

    @property
    def points(self) -> int:
        return 3 * self.record["w"] + self.record["d"]

    def expected(self, other: Team) -> float:
        return 1 / (1 + 10 ** ((other.rating - self.rating) / 400))


class League:
    K = 24

    def __init__(self, names, seed=1):
        self.teams = {n: Team(n) for n in names}
        self.rng = np.random.default_rng(seed)
        self.strength = dict(zip(names, self.rng.normal(0, 1, len(names))))
        self.log: list[str] = []

    @cached_property
    def fixtures(self):
        names = list(self.teams)
        if len(names) % 2:
            names.append(None)
        n = len(names)
        rounds = []
        for _ in range(n - 1):
            rounds.append([(names[i], names[n - 1 - i]) for i in range(n // 2) if None not in (names[i], names[n - 1 - i])])
            names[1:] = names[-1:] + names[1:-1]
        return rounds

    def play(self, h: str, a: str):
        lam_h, lam_a = np.exp(0.3 + 0.3 * (self.strength[h] - self.strength[a])), np.exp(0.1 + 0.3 * (self.strength[a] - self.strength[h]))
        gh, ga = int(self.rng.poisson(lam_h)), int(self.rng.poisson(lam_a))
        H, A = self.teams[h], self.teams[a]
        result = 1.0 if gh > ga else 0.5 if gh == ga else 0.0
        delta = self.K * (result - H.expected(A))
        H.rating += delta
        A.rating -= delta
        key = {1.0: ("w", "l"), 0.5: ("d", "d"), 0.0: ("l", "w")}[result]
        for t, k in zip((H, A), key):
            t.record[k] += 1
        self.log.append(f"{h} {gh}-{ga} {a}")

    def season(self):
        for rnd in self.fixtures:
            for m in rnd:
                self.play(*m)
        return self

    def __iter__(self):
        return iter(sorted(self.teams.values(), reverse=True))


league = League(["Ajax", "Brann", "Celtic", "Derby", "Elche"]).season()
for i, t in enumerate(league, 1):
    print(f"{i}. {t.name:<8}{t.points:>3} {t.rating:8.2f}  " + "/".join(str(v) for v in t.record.values()))
print(*league.log[:4], sep="; ")
best, *_, worst = league
print(best.name, worst.name, best > worst, f"{best.expected(worst):.3f}", best != worst)
print(asdict(replace(best, rating=1600.0)), sum(t.rating for t in league))
random.seed(4)
names = list(league.teams)
random.shuffle(names)
print(names, random.randint(1, 6), round(random.gauss(0, 1), 5), random.sample(range(20), 4), random.choices("ab", k=3))
