count = 0

def bump():
    global count
    count += 1
    return count

def make():
    state = [0]
    total = 0
    def add(n):
        nonlocal total
        total += n
        state.append(n)
        return total
    add(3)
    add(4)
    return total, state

bump()
bump()
print(count, make())
fs = [lambda: i for i in range(3)]
print([f() for f in fs], [f() for f in [lambda i=i: i for i in range(3)]])
