found = []
for i in range(4):
    for j in range(4):
        if j > i:
            break
        if (i + j) % 2:
            continue
        found.append((i, j))
print(found, len(found))
i = 0
while True:
    i += 1
    if i > 7:
        break
print(i)
