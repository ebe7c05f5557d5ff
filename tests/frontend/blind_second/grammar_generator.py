import random
from collections import defaultdict

import numpy as np

GRAMMAR = """
S -> NP VP
NP -> Det N | Det Adj N
VP -> V NP | V
Det -> the | a
Adj -> lazy | quick
N -> dog | fox | cat
V -> sees | chases
"""


def load(text):
    rules = defaultdict(list)
    for line in filter(None, map(str.strip, text.splitlines())):
        head, body = line.split(" -> ")
        rules[head] += [alt.split() for alt in body.split(" | ")]
    return dict(rules)


def expand(symbol, rules, rnd):
    if symbol not in rules:
        return [symbol]
    return [w for s in rnd.choice(rules[symbol]) for w in expand(s, rules, rnd)]


def cyk_length(words, rules):
    """How many ways each span can be read as a noun phrase (by brute force)."""
    n = len(words)
    table = np.zeros((n, n), dtype=int)
    lex = {w: h for h, alts in rules.items() for alt in alts if len(alt) == 1 for w in alt}
    tags = [lex.get(w) for w in words]
    for i in range(n):
        for j in range(i, n):
            table[i, j] = tags[i:j + 1] in rules["NP"]
    return tags, table


rules = load(GRAMMAR)
rnd = random.Random(11)
sentences = [" ".join(expand("S", rules, rnd)) for _ in range(5)]
for s in sentences:
    print(s.capitalize() + ".")
tags, table = cyk_length(sentences[0].split(), rules)
print(tags)
print(table.sum(), np.argwhere(table).tolist())
lengths = np.array([len(s.split()) for s in sentences])
print(f"mean {lengths.mean():.2f} min {lengths.min()} max {lengths.max()}", {k: len(v) for k, v in rules.items()})
