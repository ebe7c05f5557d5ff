from __future__ import annotations
import numpy as np
from dataclasses import dataclass, field, asdict, replace
from collections import defaultdict
from enum import Enum
import json
class Category(str, Enum):
    TOOL = "tool"
    FOOD = "food"
@dataclass(order=True)
class Item:
    sort_index: float = field(init=False, repr=False)
    name: str = ""
    price: float = 0.0
    qty: int = 0
    cat: Category = Category.TOOL
    tags: set[str] = field(default_factory=set, compare=False)
    def __post_init__(self):
        if self.price < 0:
            raise ValueError(f"negative price for {self.name!r}")
        self.sort_index = self.price
    @property
    def value(self) -> float: return self.price * self.qty
@dataclass
class Store:
    items: dict[str, Item] = field(default_factory=dict)
    history: list[tuple[str, str, int]] = field(default_factory=list)
    def __iadd__(self, item: Item) -> Store:
        if item.name in self.items:
            old = self.items[item.name]
            self.items[item.name] = replace(old, qty=old.qty + item.qty)
        else:
            self.items[item.name] = item
        self.history.append(("add", item.name, item.qty))
        return self
    def remove(self, name, n=1):
        it = self.items.get(name)
        if it is None or it.qty < n:
            raise KeyError(name)
        it.qty -= n
        self.history.append(("rm", name, n))
        return self
    def __len__(self): return sum(i.qty for i in self.items.values())
    def by(self, key):
        out = defaultdict(list)
        for i in self.items.values(): out[key(i)].append(i.name)
        return dict(out)
s = Store()
s += Item("hammer", 12.5, 3, tags={"steel"}); s += Item("apple", 0.4, 100, Category.FOOD); s += Item("hammer", 12.5, 2)
for bad in (lambda: s.remove("saw"), lambda: Item("x", -1), lambda: s.remove("hammer", 9)):
    try: bad()
    except (KeyError, ValueError) as e: print(type(e).__name__, e)
print(len(s), s.by(lambda i: i.cat.value), max(s.items.values()).name, sorted(s.items.values())[0].name, s.items["hammer"])
vals = np.array([i.value for i in s.items.values()]); print(vals / vals.sum(), s.history[-1], Category("food") is Category.FOOD, Category.FOOD == "food")
print(json.dumps({k: {kk: vv for kk, vv in asdict(v).items() if kk not in ("tags", "cat")} for k, v in s.items.items()}, indent=1))
