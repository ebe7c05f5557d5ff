import numpy as np

# Leaky integrate-and-fire network
N, dt, steps = 12, 0.5, 200
tau, v_rest, v_thresh, v_reset = 10.0, -65.0, -50.0, -70.0
refractory = 4
rng = np.random.default_rng(9)
W = np.where(rng.random((N, N)) < 0.2, rng.normal(1.5, 0.5, (N, N)), 0)
np.fill_diagonal(W, 0)
v = np.full(N, v_rest)
hold = np.zeros(N, dtype=int)
spikes = np.zeros((steps, N), dtype=bool)
I = 16 + rng.normal(0, 1, N)

for t in range(steps):
    active = hold == 0
    syn = W @ spikes[t - 1] if t > 0 else np.zeros(N)
    dv = (-(v - v_rest) + I) * dt / tau + syn
    v[active] += dv[active]
    hold[~active] -= 1
    fired = v >= v_thresh
    spikes[t] = fired
    v[fired] = v_reset
    hold[fired] = refractory

rates = spikes.sum(axis=0) / (steps * dt) * 1000
print("rates (Hz):", rates.round(1))
print("total spikes:", spikes.sum(), "first spike at", np.argmax(spikes.any(axis=1)))
isi = [np.diff(np.flatnonzero(spikes[:, i])) for i in range(N)]
cv = np.array([d.std() / d.mean() if d.size > 1 else np.nan for d in isi])
print("mean CV: %.3f" % np.nanmean(cv))
for i in range(3):
    print(i, "".join("|" if s else "." for s in spikes[::4, i]))
