import contextlib
import io
import json
import re
import string
import textwrap
import numpy as np

CONFIG = json.loads("""
{"lr": 0.1, "momentum": 0.9, "layers": [8, 4, 2], "name": "toy", "nesterov": true, "note": null}
""")


@contextlib.contextmanager
def section(title):
    print("=" * 10, title)
    try:
        yield title.upper()
    finally:
        print("-" * 10)


class Timer:
    def __enter__(self):
        self.count = 0
        return self

    def __exit__(self, *exc):
        self.done = True
        return False


TEXT = """To be, or not to be, that is the question:
Whether 'tis nobler in the mind to suffer 12 slings and 3.5 arrows."""

with section("tokens") as t:
    words = re.findall(r"[a-z']+", TEXT.lower())
    table = str.maketrans("", "", string.punctuation)
    clean = [w.translate(table) for w in words]
    vocab = {w: i for i, w in enumerate(sorted(set(clean)))}
    print(t, len(vocab), list(vocab)[:5])
    nums = [float(m) for m in re.findall(r"\d+(?:\.\d+)?", TEXT)]
    print(nums)

with section("matrix"):
    n = len(vocab)
    M = np.zeros((n, n), dtype=np.int64)
    for a, b in zip(clean, clean[1:]):
        M[vocab[a], vocab[b]] += 1
    P = (M + 0.1) / (M + 0.1).sum(axis=1, keepdims=True)
    H = -(P * np.log2(P)).sum(axis=1)
    top = sorted(vocab, key=lambda w: (-H[vocab[w]], w))[:3]
    print(top, f"{H.mean():.4f}")

with Timer() as tm:
    w = np.zeros(CONFIG["layers"][0])
    v = np.zeros_like(w)
    target = np.linspace(-1, 1, len(w))
    for it in range(20):
        look = w + CONFIG["momentum"] * v if CONFIG["nesterov"] else w
        g = 2 * (look - target)
        v = CONFIG["momentum"] * v - CONFIG["lr"] * g
        w = w + v
        tm.count += 1
print(tm.count, tm.done, np.abs(w - target).max() < 0.5)
print(textwrap.dedent("""
    name: {name}
    note: {note}
""").strip().format(**CONFIG))
print(json.dumps({"w": [round(float(x), 4) for x in w], "ok": True}, indent=2))
print(re.sub(r"(\w+) be", r"\1 BE", TEXT.splitlines()[0]))
