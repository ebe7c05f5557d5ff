import numpy as np
from enum import Enum, auto, IntEnum
from typing import NamedTuple

class State(Enum):
    IDLE = auto()
    RUN = auto()
    DONE = auto()

class Prio(IntEnum):
    LOW = 1
    HIGH = 5

class Event(NamedTuple):
    time: float
    kind: str
    prio: Prio = Prio.LOW

events = [Event(0.5, "start"), Event(2.0, "stop", Prio.HIGH), Event(1.0, "tick"), Event(0.1, "boot", prio=Prio.HIGH)]
events.sort(key=lambda e: (-e.prio, e.time))
state = State.IDLE
for t, kind, prio in events:
    match (state, kind):
        case (State.IDLE, "boot" | "start"):
            state = State.RUN
        case (State.RUN, "stop"):
            state = State.DONE
        case _:
            pass
    print(f"{t:4.1f} {kind:<6} {prio.name:>5} -> {state.name}")
print(state, State["RUN"].value, State(3), list(Prio), Prio.HIGH > Prio.LOW, Event._fields, events[0]._replace(kind="x"))
print(np.mean([e.time for e in events]), max(events, key=lambda e: e.time)._asdict())
