import numpy as np
from collections import deque

size = 8
grid = np.zeros((size, size), dtype=np.int8)
snake = deque([(4, 4), (4, 3), (4, 2)])
directions = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
food = {(4, 6), (2, 6)}
score = 0
alive = True
for move in "RRUUULL":
    dy, dx = directions[move]
    y, x = snake[0]
    head = ((y + dy) % size, (x + dx) % size)
    if head in snake:
        alive = False
        break
    snake.appendleft(head)
    if head in food:
        food.remove(head)
        score += 10
    else:
        snake.pop()
for i, (y, x) in enumerate(snake):
    grid[y, x] = 2 if i == 0 else 1
print(grid)
print("score:", score, "alive:", alive, "length:", len(snake))
