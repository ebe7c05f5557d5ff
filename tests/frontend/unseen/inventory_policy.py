import numpy as np

HOLDING, SHORTAGE, ORDER = 1.0, 5.0, 10.0


def run(s, S, days, rng, verbose=False):
    level = S
    cost = 0.0
    orders = 0
    log = []
    for day in range(days):
        demand = rng.poisson(4)
        sold = min(level, demand)
        missed = demand - sold
        level -= sold
        cost += HOLDING * level + SHORTAGE * missed
        if level <= s:
            cost += ORDER
            orders += 1
            level = S
        log.append((day, demand, level, missed))
    if verbose:
        for entry in log[:3]:
            print("  day %d: demand %d, level %d, missed %d" % entry)
    return cost / days, orders


best = (None, float("inf"))
for s in range(2, 11, 4):
    for S in range(s + 6, s + 19, 6):
        avg, orders = run(s, S, 60, np.random.default_rng(99))
        print(f"s={s:2d} S={S:2d} cost={avg:7.3f} orders={orders}")
        if avg < best[1]:
            best = ((s, S), avg)
print("best policy:", best[0], "cost: %.3f" % best[1])
run(*best[0], 5, np.random.default_rng(99), verbose=True)
