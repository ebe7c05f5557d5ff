import numpy as np

# A loop that stays a loop in the program, because its rounds are many, still decides what stands behind it.
rng = np.random.default_rng(3)
x = rng.normal(size=45)
best, where, rounds = np.inf, 0, 0
for i in range(40):
    for t in np.unique(x)[::3]:
        err = np.abs(x[x < t]).sum() + 0.1 * i
        if err < best:
            best, where = err, i
        rounds += 1
print("low" if best < 1 else "high", f"{best:.6f}", where, rounds)
print({where: "first", rounds: "all"}, "=" * (rounds // 100), ["even", "odd"][rounds % 2])
total = 0
while total < 5000:
    total += 7
names = {total: "end"}
print(names[5005], list(range(total - 5000)), len(x[x > 0]) > 3)
try:
    np.linalg.inv(np.full((2, 2), float(total)))
except np.linalg.LinAlgError as e:
    print("caught", e)
