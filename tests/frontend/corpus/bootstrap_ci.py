import numpy as np

data = np.array([12.1, 9.8, 11.5, 10.2, 13.3, 9.1, 10.9, 11.8, 12.6, 10.0])
rng = np.random.default_rng(0)
means = np.array([rng.choice(data, size=len(data), replace=True).mean() for _ in range(200)])
lo, hi = np.percentile(means, [2.5, 97.5])
print(f"mean {data.mean():.2f}, 95% CI [{lo:.3f}, {hi:.3f}]")
idx = rng.integers(0, len(data), size=(200, len(data)))
med = np.median(data[idx], axis=1)
print("bootstrap median se:", med.std().round(4))
jack = np.array([np.delete(data, i).mean() for i in range(len(data))])
print("jackknife se:", np.sqrt((len(data) - 1) * jack.var()).round(4))
