s = "layer"
print(s.upper(), s + ".0", s * 2, s[1:3], s[-1], len(s), "-".join(["a", "b"]), "a,b".split(","), s.startswith("la"))
print(f"{s}.{3}.w", f"{3.14159:.2f}", f"{7:>5}|", f"{s!r}", f"{1 + 1}", f"{'x':^5}", f"{2:0{4}d}")
for c in "ab":
    print(c, sep="", end=";")
print()
print("a", 1, None, True, (1,), [1.5, "x"], {"k": (2, 3)}, sep=" | ")
print(str(3) + repr("q"), str(1.5), int("42") + float("0.5"), "b".replace("b", "cd"))
