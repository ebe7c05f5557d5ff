import numpy as np
from dataclasses import dataclass


@dataclass(frozen=True)
class Params:
    alpha: float = 1.1
    beta: float = 0.4
    gamma: float = 0.4
    delta: float = 0.1


def deriv(state, p):
    prey, pred = state
    return np.array([p.alpha * prey - p.beta * prey * pred, p.delta * prey * pred - p.gamma * pred])


def integrate(p: Params, y0, t):
    ys = [np.asarray(y0, float)]
    for h in np.diff(t):
        y = ys[-1]
        k1 = deriv(y, p)
        k2 = deriv(y + h * k1 / 2, p)
        ys.append(y + h * k2)
    return np.stack(ys)


def main():
    t = np.linspace(0, 20, 401)
    sol = integrate(Params(), (10.0, 5.0), t)
    prey, pred = sol.T
    print(f"{'':>10}{'min':>8}{'max':>8}{'mean':>8}")
    for name, series in [("prey", prey), ("predator", pred)]:
        print(f"{name:>10}{series.min():8.3f}{series.max():8.3f}{series.mean():8.3f}")
    peaks = np.where((prey[1:-1] > prey[:-2]) & (prey[1:-1] > prey[2:]))[0] + 1
    print("prey peaks at t =", t[peaks])
    if len(peaks) > 1:
        print("period:", np.diff(t[peaks]).mean())
    V = Params.delta * prey - Params.gamma * np.log(prey) + Params.beta * pred - Params.alpha * np.log(pred)
    print("invariant drift: %.4f" % np.ptp(V))


if __name__ == "__main__":
    main()
