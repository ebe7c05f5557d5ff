import numpy as np

rng = np.random.default_rng(30)
x = np.sort(rng.uniform(-3, 3, 40))
y = 0.5 * x**3 - x + 2 + rng.normal(0, 1.0, x.size)


def kfold(n, k, rng):
    idx = rng.permutation(n)
    for fold in np.array_split(idx, k):
        yield np.setdiff1d(idx, fold), fold


results = []
for degree in range(1, 7):
    scores = []
    for train, test in kfold(len(x), 5, np.random.default_rng(1)):
        coef = np.polyfit(x[train], y[train], degree)
        scores.append(np.mean((np.polyval(coef, x[test]) - y[test]) ** 2))
    results.append((degree, np.mean(scores), np.std(scores)))
    print("degree %d: %.3f +/- %.3f" % results[-1])
best = min(results, key=lambda r: r[1])[0]
p = np.poly1d(np.polyfit(x, y, best))
print("best degree", best)
print("coefficients", p.coeffs.round(3))
print("prediction at 0.5: %.3f, slope: %.3f" % (p(0.5), p.deriv()(0.5)))
