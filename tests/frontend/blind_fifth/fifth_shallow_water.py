import numpy as np
import argparse

def simulate(n=24, steps=60, g=9.81, dt=0.005, save_every=20):
    dx = 1.0 / n
    h = np.ones((n, n), dtype=np.float64)
    X, Y = np.ogrid[0:n, 0:n]
    h += 0.3 * np.exp(-((X - n / 3) ** 2 + (Y - n / 2) ** 2) / (n / 8) ** 2)
    hu, hv = np.zeros_like(h), np.zeros_like(h)
    mass0 = h.sum()
    frames = {}

    def flux(q):
        h, hu, hv = q
        u, v = hu / h, hv / h
        return (np.stack([hu, hu * u + 0.5 * g * h * h, hu * v]),
                np.stack([hv, hv * u, hv * v + 0.5 * g * h * h]))

    q = np.stack([h, hu, hv])
    for s in range(steps):
        F, G = flux(q)
        c = np.sqrt(g * q[0]) + np.hypot(q[1], q[2]) / q[0]
        a = c.max()
        Fh = 0.5 * (F + np.roll(F, -1, axis=1)) - 0.5 * a * (np.roll(q, -1, axis=1) - q)
        Gh = 0.5 * (G + np.roll(G, -1, axis=2)) - 0.5 * a * (np.roll(q, -1, axis=2) - q)
        q = q - dt / dx * (Fh - np.roll(Fh, 1, axis=1) + Gh - np.roll(Gh, 1, axis=2))
        if not s % save_every:
            frames[s] = q[0].copy()
    return q, frames, mass0


def main(argv=None):
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("-n", type=int, default=24, help="cells per side")
    p.add_argument("--steps", type=int, default=60)
    p.add_argument("--scheme", choices=["rusanov", "hll"], default="rusanov")
    p.add_argument("-v", "--verbose", action="store_true")
    args = p.parse_args(argv)
    q, frames, mass0 = simulate(args.n, args.steps)
    for k, f in frames.items():
        print(f"t={k:03d} min={f.min():.5f} max={f.max():.5f}")
    print("mass drift", abs(q[0].sum() - mass0) < 1e-9)
    if args.verbose:
        print(vars(args))
    print(args)
    levels = np.digitize(q[0], np.linspace(0.95, 1.1, 5))
    for row in levels[::4, ::2]:
        print("".join(" .:-=#"[i] for i in row))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
