import numpy as np
words = "to be or not to be that is the question".split()
vocab = list(set(words))
print(len(vocab), "be" in vocab)
vocab.sort()
index = {w: i for i, w in enumerate(vocab)}
print(vocab, index["not"])
length = {w: len(w) for w in set(words)}
weights = {w: np.full(2, len(w)) for w in set(words)}
print(length["question"], max(length.values()), sum(length.values()), sorted(length), len(length), "xx" in length, length.get("zz", 0))
print(sorted(length.items(), key=lambda kv: (-kv[1], kv[0]))[:2], max(set(words), key=len), min(len(w) for w in set(words)))
chars = {c for w in set(words) for c in w}
print(sorted(chars), all(c.isalpha() for c in chars), any(map(str.isupper, chars)), sorted(filter(lambda c: c > "n", chars)))
print(np.array(sorted(map(len, set(words)))), weights["that"] + 1, sum(1 for w in set(words) if len(w) == 2))
length["new"] = 3
del length["to"]
length["be"] += 1
print(sorted(length.values()), {*set(words), "x"} == set(words) | {"x"}, length == dict(sorted(length.items())), frozenset(w[0] for w in set(words)) == {"t", "b", "o", "n", "i", "q"})
df = {w: sum(w in d for d in (words[:3], words[3:])) for w in set(words)}
print(df["to"], dict.fromkeys(set(words), 0)["or"])
print(len({c for w in words for c in set(w)}), sorted({(w, c) for w in set(words) for c in set(w)})[:3])
