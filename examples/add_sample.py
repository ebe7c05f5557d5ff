a = 3
b = 40
c = a + b
print(c)
