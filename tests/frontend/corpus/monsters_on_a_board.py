import random
import numpy as np
random.seed(5)
WIDTH, HEIGHT = 10, 6
class Entity:
    count = 0
    def __init__(self, x, y, ch):
        self.x, self.y, self.ch = x, y, ch
        Entity.count += 1
        self.id = Entity.count
    def move(self, dx, dy):
        self.x = (self.x + dx) % WIDTH
        self.y = (self.y + dy) % HEIGHT
    def __repr__(self): return f"<{type(self).__name__} {self.id} at {self.x},{self.y}>"
class Player(Entity):
    def __init__(self, x, y): super().__init__(x, y, "@"); self.hp = 10; self.inv = {}
    def take(self, item): self.inv[item] = self.inv.get(item, 0) + 1
class Monster(Entity):
    def think(self, p):
        return (np.sign(p.x - self.x), np.sign(p.y - self.y)) if random.random() < 0.7 else random.choice([(0, 1), (1, 0), (-1, 0)])
p = Player(2, 2)
ms = [Monster(random.randrange(WIDTH), random.randint(0, HEIGHT - 1), "M") for _ in range(3)]
for turn in range(8):
    p.move(*random.choice(((1, 0), (0, 1))))
    for m in ms[:]:
        m.move(*map(int, m.think(p)))
        if (m.x, m.y) == (p.x, p.y):
            p.hp -= 2; p.take("fang"); ms.remove(m)
board = np.full((HEIGHT, WIDTH), ".")
for e in [*ms, p]:
    board[e.y, e.x] = e.ch
print("\n".join("".join(r) for r in board))
print(p, ms, p.hp, p.inv, Entity.count, isinstance(p, Entity), issubclass(Monster, Entity), hasattr(p, "inv"), getattr(p, "zz", None), vars(p)["hp"])
deck = [s + r for s in "SH" for r in "A23"]; random.shuffle(deck); print(deck, random.sample(range(10), 3), round(random.uniform(1, 2), 6), round(random.gauss(0, 1), 6))
