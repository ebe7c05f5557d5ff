import numpy as np

rng = np.random.default_rng(seed=1234)
n_walkers, n_steps = 200, 100
steps = rng.choice([-1, 1], size=(n_walkers, n_steps))
walks = steps.cumsum(axis=1)
print("farthest:", walks.max(), walks.min())

hits30 = (np.abs(walks) >= 15).any(axis=1)
print("walkers that hit 15:", hits30.sum())
crossing_times = (np.abs(walks[hits30]) >= 15).argmax(axis=1)
print("mean crossing time:", crossing_times.mean())

msd = (walks**2).mean(axis=0)
slope, intercept = np.polyfit(np.arange(1, n_steps + 1), msd, 1)
print(f"MSD slope: {slope:.3f}")
final, counts = np.unique(walks[:, -1], return_counts=True)
mode = final[counts.argmax()]
print("most common end point:", mode)
returned = (walks[:, 1:] == 0).any(axis=1)
print(f"{returned.mean() * 100:.1f}% returned to the origin")
