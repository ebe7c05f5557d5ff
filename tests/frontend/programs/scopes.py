x = "module"
def a():
    x = "a"
    def b():
        return x
    return b()
def c():
    return x
def d(x=x):
    return [x for x in range(2)], x
print(a(), c(), d())
x = "changed"
print(c(), d())
len = lambda v: 99
print(len([1]))
del len
print(len([1]))
