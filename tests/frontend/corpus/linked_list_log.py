import numpy as np
from dataclasses import dataclass, field
from typing import Optional, Iterator

@dataclass
class Node:
    value: float
    next: Optional["Node"] = None

@dataclass
class LinkedList:
    head: Optional[Node] = None
    size: int = 0
    log: list[str] = field(default_factory=list)

    def push(self, v: float) -> None:
        self.head = Node(v, self.head)
        self.size += 1
        self.log.append(f"push {v:.2f}")

    def __iter__(self) -> Iterator[float]:
        n = self.head
        while n is not None:
            yield n.value
            n = n.next

    def __len__(self):
        return self.size

    def reverse(self):
        prev = None
        cur = self.head
        while cur:
            cur.next, prev, cur = prev, cur, cur.next
        self.head = prev

ll = LinkedList()
for v in np.linspace(0, 1, 5):
    ll.push(float(v))
print(list(ll), len(ll))
ll.reverse()
print([f"{v:.2f}" for v in ll], ll.log[-1])
print(LinkedList())
print(Node(1.0, Node(2.0)))
