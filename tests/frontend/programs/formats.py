import numpy as np

x = np.array([1.5, -2.25, 1000.0])
n = len(x)
print("%d values, mean %.3f" % (n, x.mean()))
print("%s|%5d|%-5d|%05d|%+d|%5.1f|%e|%g|%%|%r" % ("a", 3, 3, 3, 3, 2.345, 12345.678, 0.0001, "b"))
print("%(name)s has %(n)03d" % {"name": "x", "n": n})
print("only %s" % "one", "%10s|%-10s|%.2s" % ("right", "left", "cut"))
print("{} and {}".format(n, "y"), "{1} before {0}".format("b", "a"), "{name:>8}|{value:.2f}".format(name="v", value=2.5))
print("{:.2f} {:>10.3e} {!r} {{}}".format(x[0], x[2], "q"), "{0} {0}".format(n))
print("%s" % (x,), "{}".format(x), "%.2f" % x[1], "{:8.3f}".format(x.sum()))
