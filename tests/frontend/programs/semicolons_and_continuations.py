a = 1; b = 2
c = a + \
    b
if c == 3: print("three")
d = (a,
     b,   # a comment
     c)
print(d, """two
lines""", 'x' "y", r"\n")
