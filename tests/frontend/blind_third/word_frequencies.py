from collections import Counter, defaultdict

TEXT = """It was the best of times, it was the worst of times,
it was the age of wisdom, it was the age of foolishness,
it was the epoch of belief, it was the epoch of incredulity"""

words = TEXT.lower().replace(",", "").split()
freq = Counter(words)
width = max(map(len, freq))
for w, n in freq.most_common(5):
    print(f"{w:<{width}} {'#' * n} {n}")

by_len = defaultdict(set)
for w in words:
    by_len[len(w)].add(w)
for n in sorted(by_len):
    print(n, sorted(by_len[n]))

bigrams = Counter(zip(words, words[1:]))
(first, second), n = max(bigrams.items(), key=lambda kv: (kv[1], kv[0]))
print(first, second, n)
vowels = sum(ch in "aeiou" for ch in TEXT)
print("vowels", vowels, "lines", len(TEXT.splitlines()), TEXT.title()[:18], "-".join(words[:3]).upper())
