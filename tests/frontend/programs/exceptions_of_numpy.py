import numpy as np

a, b = np.arange(3.0), np.arange(4.0)


def tried(f):
    try:
        return f()
    except np.linalg.LinAlgError as e:
        return f"linear algebra: {e}"
    except (ValueError, IndexError) as e:
        return f"{type(e).__name__}: {e}"


print(tried(lambda: a + b))
print(tried(lambda: np.ones((2, 3)) @ np.ones((2, 3))))
print(tried(lambda: a[5]))
print(tried(lambda: np.linalg.solve(np.eye(2), np.ones(3))))
print(tried(lambda: a.reshape(2, 2)))
print(tried(lambda: np.concatenate([np.ones((2, 2)), np.ones((3, 3))])))
print(tried(lambda: np.linalg.inv(np.zeros((2, 2)))))
print(tried(lambda: [1, 2].index(3)))
print(tried(lambda: "abc".index("z")))


def wrapped(log):
    try:
        try:
            np.linalg.solve(np.eye(2), np.ones(3))
        except np.linalg.LinAlgError:
            log.append("singular")
        finally:
            log.append("inner")
    except ValueError:
        log.append("outer")
    return log


print(wrapped([]))


class Section:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        print("leaving by", kind.__name__)
        return True


with Section():
    a[:] = b
print("went on")
