from enum import Enum, IntEnum
from typing import Optional

import numpy as np


class Direction(IntEnum):
    DOWN = -1
    IDLE = 0
    UP = 1


class Door(Enum):
    OPEN = "open"
    CLOSED = "closed"


class Elevator:
    def __init__(self, floors: int):
        self.floors = floors
        self.floor = 0
        self.direction = Direction.IDLE
        self.door = Door.CLOSED
        self.requests: set[int] = set()
        self.log: list[str] = []

    def call(self, floor: int) -> None:
        if not 0 <= floor < self.floors:
            raise ValueError(f"no floor {floor}")
        self.requests.add(floor)

    def target(self) -> Optional[int]:
        ahead = [f for f in self.requests if (f - self.floor) * self.direction > 0]
        pool = ahead or list(self.requests)
        return min(pool, key=lambda f: (abs(f - self.floor), f)) if pool else None

    def tick(self):
        if self.floor in self.requests:
            self.requests.remove(self.floor)
            self.door = Door.OPEN
            self.log.append(f"{self.floor}*")
            return
        self.door = Door.CLOSED
        goal = self.target()
        if goal is None:
            self.direction = Direction.IDLE
            return
        self.direction = Direction.UP if goal > self.floor else Direction.DOWN
        self.floor += self.direction
        self.log.append(str(self.floor))


lift = Elevator(8)
rng = np.random.default_rng(4)
calls = {int(t): int(f) for t, f in zip(rng.integers(0, 12, 6), rng.integers(0, 8, 6))}
for t in range(40):
    if t in calls:
        lift.call(calls[t])
    lift.tick()
print(" ".join(lift.log))
print(lift.floor, lift.direction.name, lift.door.value, Direction(1), Door("open") is Door.OPEN)
try:
    lift.call(12)
except ValueError as e:
    print("refused:", e)
print([d.name for d in Direction], Direction.UP + 1, max(Direction).name)
