import re

m = re.match(r"(\w+)-(?P<n>\d+)", "item-42 rest")
print(m.group(), m.group(1), m.group("n"), m["n"], m.groups(), m.groupdict(), m.start(2), m.span())
print(re.search(r"\d+", "none"), bool(re.fullmatch(r"a+", "aaa")), [x.group() for x in re.finditer(r"[a-c]", "xaybz")])
number = re.compile(r"-?\d+")
print(number.findall("3 -4 5"), number.sub("#", "a1b22"), number.search("x9").end())
if (found := number.match("77 bottles")) is not None:
    print(int(found.group()) + 1)
