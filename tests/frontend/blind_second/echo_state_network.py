import numpy as np

rng = np.random.default_rng(5)
n, leak, rho = 30, 0.6, 0.9
W = rng.uniform(-1, 1, (n, n)) * (rng.random((n, n)) < 0.2)
W *= rho / np.max(np.abs(np.linalg.eigvals(W)))
W_in = rng.uniform(-0.5, 0.5, (n, 2))


def mackey_glass(length, tau=17, dt=1.0):
    hist = [1.2] * (tau + 1)
    for _ in range(length):
        x, xt = hist[-1], hist[-tau - 1]
        hist.append(x + dt * (0.2 * xt / (1 + xt**10) - 0.1 * x))
    return np.array(hist[tau + 1:])


def run(series):
    state = np.zeros(n)
    states = np.empty((len(series), n + 2))
    for t, u in enumerate(series):
        inp = np.array([1.0, u])
        state = (1 - leak) * state + leak * np.tanh(W_in @ inp + W @ state)
        states[t] = np.concatenate([inp, state])
    return states


data = mackey_glass(260)
X = run(data[:-1])
wash, split = 40, 200
A, b = X[wash:split], data[wash + 1:split + 1]
W_out = np.linalg.solve(A.T @ A + 1e-6 * np.eye(n + 2), A.T @ b)
pred = X[split:] @ W_out
target = data[split + 1:]
nrmse = np.sqrt(np.mean((pred - target) ** 2) / np.var(target))
print("series", data[:3].round(4), "...", data[-1].round(4))
print("nrmse below 0.2:", bool(nrmse < 0.2), "readout size", W_out.shape)
naive = np.sqrt(np.mean(np.diff(data[split:]) ** 2) / np.var(target))
print("better than persistence:", nrmse < naive)
