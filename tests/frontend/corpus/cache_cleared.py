from functools import lru_cache, cache
@lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n-1) + fib(n-2)
print(fib(30))
fib.cache_clear()
print(fib(10), fib.cache_info())
