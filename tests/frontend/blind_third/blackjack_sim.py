import random


def make_deck():
    ranks = list(range(2, 11)) + ["J", "Q", "K", "A"]
    return [(r, s) for s in "SHDC" for r in ranks]


def value(hand):
    total, aces = 0, 0
    for rank, _ in hand:
        if rank == "A":
            aces += 1
            total += 11
        elif isinstance(rank, str):
            total += 10
        else:
            total += rank
    while total > 21 and aces:
        total -= 10
        aces -= 1
    return total


random.seed(1234)
tally = {"win": 0, "lose": 0, "push": 0}
for game in range(40):
    deck = make_deck()
    random.shuffle(deck)
    player, dealer = [deck.pop(), deck.pop()], [deck.pop(), deck.pop()]
    while value(player) < 17:
        player.append(deck.pop())
    while value(dealer) < 17:
        dealer.append(deck.pop())
    p, d = value(player), value(dealer)
    if p > 21:
        tally["lose"] += 1
    elif d > 21 or p > d:
        tally["win"] += 1
    elif p == d:
        tally["push"] += 1
    else:
        tally["lose"] += 1
print(tally, sum(tally.values()))
print(value([("A", "S"), ("A", "H"), (9, "D")]))
