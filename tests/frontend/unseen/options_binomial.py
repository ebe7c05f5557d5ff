import numpy as np


def binomial_option(S, K, T, r, sigma, N, kind="call", american=False):
    if kind not in ("call", "put"):
        raise ValueError("kind must be 'call' or 'put'")
    dt = T / N
    u = np.exp(sigma * np.sqrt(dt))
    d = 1 / u
    p = (np.exp(r * dt) - d) / (u - d)
    disc = np.exp(-r * dt)
    sign = 1 if kind == "call" else -1
    prices = S * d ** np.arange(N, -1, -1) * u ** np.arange(0, N + 1)
    values = np.maximum(sign * (prices - K), 0)
    for i in range(N - 1, -1, -1):
        values = disc * (p * values[1:] + (1 - p) * values[:-1])
        if american:
            prices = S * d ** np.arange(i, -1, -1) * u ** np.arange(0, i + 1)
            values = np.maximum(values, sign * (prices - K))
    return values[0]


params = dict(S=100.0, K=105.0, T=1.0, r=0.05, sigma=0.2)
for n in (5, 25, 50):
    call = binomial_option(**params, N=n)
    put = binomial_option(**params, N=n, kind="put")
    am = binomial_option(**params, N=n, kind="put", american=True)
    parity = call - put - (params["S"] - params["K"] * np.exp(-params["r"] * params["T"]))
    print(f"N={n:3d} call={call:.4f} put={put:.4f} american={am:.4f} parity={abs(parity) < 1e-9}")
try:
    binomial_option(**params, N=3, kind="straddle")
except ValueError as exc:
    print(f"{type(exc).__name__}: {exc}")
