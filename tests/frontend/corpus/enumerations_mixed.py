from enum import Enum, IntEnum, StrEnum, auto
import numpy as np
class C(str, Enum):
    TOOL = "tool"
    FOOD = "food"
class S(StrEnum):
    A = "aa"
    B = "bb"
class P(IntEnum):
    LOW = 1
    HIGH = 5
d = {C.FOOD: 1, "tool": 2}
print(d["food"], C.TOOL in d, d.get(C.TOOL), d, C("food") is C.FOOD, C.FOOD == "food", "food" == C.FOOD, C.FOOD != "x", C.FOOD, f"{C.FOOD}", repr(C.FOOD), C.FOOD.value)
print(S.A, f"{S.B}", S.A == "aa", [S.A], sorted(S), {S.A: 1}["aa"], S("bb").name)
e = {P.LOW: "l"}; e[1] = "one"; e[5] = "f"
print(e, e[P.HIGH], P.LOW in e, {1: "a"}[P.LOW], P.LOW, [P.HIGH], sorted({P.HIGH, P.LOW}))
print([c.value for c in C], len(C), isinstance(C.FOOD, C), C.FOOD in ("food", "x"), max(P.LOW, 3))
match C("tool"):
    case C.TOOL: print("tool!")
    case _: print("other")
