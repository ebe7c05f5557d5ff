import numpy as np

names = ["Ada", "Ben", "Cleo", "Dan"]
scores = np.array([[88, 92, 79], [75, 60, np.nan], [95, 98, 100], [55, 71, 64]])
weights = np.array([0.3, 0.3, 0.4])


def grade(p):
    for bound, letter in [(90, "A"), (80, "B"), (70, "C"), (60, "D")]:
        if p >= bound:
            return letter
    return "F"


filled = np.where(np.isnan(scores), np.nanmean(scores, axis=0), scores)
final = filled @ weights
order = np.argsort(-final)
print("Rank Name   Final Grade")
for rank, i in enumerate(order, 1):
    print(f"{rank:>4} {names[i]:<6} {final[i]:5.1f} {grade(final[i]):>5}")
z = (final - final.mean()) / final.std()
print(dict(zip(names, z.round(2).tolist())))
corr = np.corrcoef(filled.T)
print(np.array2string(corr, precision=3, suppress_small=True))
best = {f"exam{j + 1}": names[int(np.argmax(filled[:, j]))] for j in range(3)}
print(best, "missing:", np.argwhere(np.isnan(scores)).tolist())
