import numpy as np


class TicTacToe:
    LINES = [
        [(0, 0), (0, 1), (0, 2)],
        [(1, 0), (1, 1), (1, 2)],
        [(2, 0), (2, 1), (2, 2)],
    ]

    def __init__(self):
        self.board = np.zeros((3, 3), dtype=int)
        self.player = 1

    def winner(self):
        for p in (1, -1):
            b = self.board == p
            if (b.all(axis=0).any() or b.all(axis=1).any()
                    or np.diag(b).all() or np.diag(np.fliplr(b)).all()):
                return p
        return 0

    def moves(self):
        return [tuple(m) for m in np.argwhere(self.board == 0)]

    def play(self, move):
        if self.board[move] != 0:
            raise ValueError(f"cell {move} is taken")
        self.board[move] = self.player
        self.player = -self.player

    def __str__(self):
        symbols = {0: ".", 1: "X", -1: "O"}
        return "\n".join(" ".join(symbols[int(c)] for c in row) for row in self.board)


def main():
    rng = np.random.default_rng(4)
    game = TicTacToe()
    turn = 0
    while game.winner() == 0 and game.moves():
        moves = game.moves()
        game.play(moves[rng.integers(len(moves))])
        turn += 1
    print(game)
    print({1: "X wins", -1: "O wins", 0: "draw"}[game.winner()], "after", turn, "moves")
    try:
        game.play((0, 0)) if game.board[0, 0] else game.play((5, 5))
    except (ValueError, IndexError) as e:
        print("error:", e)


if __name__ == "__main__":
    main()
