import numpy as np


def make_ema(alpha):
    state = None

    def update(x):
        nonlocal state
        state = x if state is None else alpha * x + (1 - alpha) * state
        return state

    return update


def make_pipeline(*stages):
    def run(x, verbose=False):
        for i, stage in enumerate(stages):
            x = stage(x)
            if verbose:
                print(f"  stage {i} ({getattr(stage, '__name__', '?')}): {np.round(x, 3)}")
        return x
    return run


def clip(lo, hi):
    def clipper(x):
        return np.clip(x, lo, hi)
    return clipper


def poly(*coefs):
    return lambda x: sum(c * x**i for i, c in enumerate(coefs))


def counted(f):
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return f(*args, **kwargs)
    wrapper.calls = 0
    wrapper.__name__ = f.__name__
    return wrapper


@counted
def standardize(x):
    return (x - x.mean()) / x.std()


pipe = make_pipeline(standardize, clip(-1, 1), poly(1, 2, 0.5))
x = np.array([1.0, 4.0, 9.0, 16.0, 100.0])
print(pipe(x, verbose=True))
pipe(x[:3])
print("calls", standardize.calls, standardize.__name__)
ema = make_ema(0.3)
print([round(float(ema(v)), 4) for v in x])
adders = [lambda v, k=k: v + k for k in range(3)]
late = [lambda v: v + k for k in range(3)]
print([f(10) for f in adders], [f(10) for f in late])
