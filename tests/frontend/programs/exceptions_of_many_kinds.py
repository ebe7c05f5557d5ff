import numpy as np
def safe(a, b):
    try:
        return a / b
    except ZeroDivisionError as e:
        print("caught", e)
        return 0.0
    finally:
        print("done")
print(safe(1, 2), safe(1, 0))
try:
    d = {"a": 1}
    d["b"]
except KeyError as e:
    print(repr(e), e.args)
try:
    int("x12")
except (ValueError, TypeError) as e:
    print(type(e).__name__, e)
try:
    [1, 2][5]
except LookupError as e:
    print(e)
else:
    print("no")
try:
    try:
        raise RuntimeError("inner", 3)
    except RuntimeError as e:
        raise ValueError("outer") from e
except Exception as e:
    print(e)
def gen():
    try:
        yield 1
        yield 2
    finally:
        print("closing")
print(list(gen()))
try:
    next(iter([]))
except StopIteration:
    print("stop")
for i in range(3):
    try:
        if i == 1:
            continue
        if i == 2:
            break
        print("body", i)
    finally:
        print("fin", i)
with np.errstate(all="ignore"):
    try:
        print(np.float64(1) / 0)
    except ZeroDivisionError:
        print("never")
