import math
from math import sqrt, pi as PI
print(math.sqrt(64), sqrt(2), PI, math.exp(1), math.log(10), math.log2(8), math.floor(2.5), math.ceil(2.1), math.tanh(0.5), math.erf(0.3))
print(math.prod([1, 2, 3]), math.gcd(12, 18), math.factorial(5), math.inf, math.isclose(0.1 + 0.2, 0.3), math.hypot(3, 4), math.pow(2, 0.5))
