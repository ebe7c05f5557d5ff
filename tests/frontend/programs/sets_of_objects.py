class Node:
    def __init__(self, name, *children):
        self.name, self.children = name, set(children)


def walk(node, seen):
    if node not in seen:
        seen.add(node)
        for child in node.children:
            walk(child, seen)
    return seen


leaf = Node("leaf")
top = Node("top", Node("left", leaf), Node("right", leaf))
print(len(walk(top, set())), sum(len(n.children) for n in walk(top, set())), leaf in walk(top, set()))
print(sorted(n.name for n in walk(top, set())))
groups = {frozenset("ab"), frozenset("ba"), frozenset({"c"})}
print(len(groups), frozenset("ab") in groups, {frozenset((1, 2)): "x"}[frozenset([2, 1])])
