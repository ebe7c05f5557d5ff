"""Monte-Carlo pi"""
import argparse
import numpy as np

def estimate(n: int, seed: int = 0) -> float:
    rng = np.random.default_rng(seed)
    xy = rng.random((n, 2))
    return 4.0 * np.count_nonzero((xy ** 2).sum(axis=1) <= 1.0) / n

def main(argv=None):
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("-n", "--samples", type=int, default=1000)
    ap.add_argument("--seed", type=int, default=5)
    ap.add_argument("--verbose", action="store_true")
    args = ap.parse_args(argv)
    for k in range(1, 4):
        e = estimate(args.samples * 10 ** (k - 1), args.seed)
        print(f"{args.samples * 10 ** (k-1):>8d}: {e:.4f} (err {abs(e - np.pi):.1e})")
    if args.verbose:
        print("done")

if __name__ == "__main__":
    main()
