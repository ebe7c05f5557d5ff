import numpy as np

GRID = ["#....", "..#..", ".....", "..#..", "....#"]
WORDS = {"apple", "oasis", "tea", "on", "salsa"}


class Slot:
    def __init__(self, row, col, dr, dc, length):
        self.cells = [(row + k * dr, col + k * dc) for k in range(length)]

    def __len__(self):
        return len(self.cells)

    def fits(self, board, word):
        return len(word) == len(self) and all(board[c] in ("", ch) for c, ch in zip(self.cells, word))


def runs(mask):
    padded = np.concatenate([[0], mask.astype(int), [0]])
    d = np.diff(padded)
    return zip(np.flatnonzero(d == 1), np.flatnonzero(d == -1) - np.flatnonzero(d == 1))


open_ = np.array([[ch == "." for ch in row] for row in GRID])
slots = [Slot(r, int(c), 0, 1, int(k)) for r in range(5) for c, k in runs(open_[r]) if k > 1]
slots += [Slot(int(r), c, 1, 0, int(k)) for c in range(5) for r, k in runs(open_[:, c]) if k > 1]
print(len(slots), sorted(len(s) for s in slots))
board = np.full((5, 5), "", dtype="<U1")
placed = []
for word in sorted(WORDS, key=lambda w: (-len(w), w)):
    for slot in slots:
        if slot.fits(board, word):
            for c, ch in zip(slot.cells, word):
                board[c] = ch
            placed.append(word)
            break
print(placed)
for r in range(5):
    print("".join(board[r, c] or ("#" if not open_[r, c] else ".") for c in range(5)))
print("filled", int((board != "").sum()), "of", open_.sum())
