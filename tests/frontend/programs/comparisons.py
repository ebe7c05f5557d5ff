x = 5
print(1 < x < 10, 1 < x > 10, x == 5.0, x != 5, x is None, x is not None, not x, x >= 5 and x <= 5, x < 0 or x)
print("a" < "b", (1, 2) < (1, 3), [1, 2] == [1, 2], {"a": 1} == {"a": 1}, 3 in [1, 2, 3], "k" in {"k": 0}, "ell" not in "hello")
