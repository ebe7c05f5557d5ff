from abc import ABC, abstractmethod
from collections import OrderedDict, namedtuple

import numpy as np

Item = namedtuple("Item", "sku price qty")


class Discount(ABC):
    @abstractmethod
    def apply(self, prices, qtys):
        ...

    def __str__(self):
        return type(self).__name__


class Bulk(Discount):
    def __init__(self, minimum, rate):
        self.minimum, self.rate = minimum, rate

    def apply(self, prices, qtys):
        return np.where(qtys >= self.minimum, prices * (1 - self.rate), prices)


class Flat(Discount):
    def __init__(self, rate=0.05):
        self.rate = rate

    def apply(self, prices, qtys):
        return prices * (1 - self.rate)

    def __str__(self):
        return f"Flat({self.rate:.0%})"


class Cart:
    tax = 0.2

    def __init__(self):
        self._items = OrderedDict()

    def add(self, sku, price, qty=1):
        if sku in self._items:
            old = self._items[sku]
            self._items[sku] = old._replace(qty=old.qty + qty)
        else:
            self._items[sku] = Item(sku, price, qty)
        return self

    def __len__(self):
        return sum(i.qty for i in self._items.values())

    def __contains__(self, sku):
        return sku in self._items

    def __iadd__(self, item):
        return self.add(*item)

    def total(self, *discounts):
        prices = np.array([i.price for i in self._items.values()])
        qtys = np.array([i.qty for i in self._items.values()])
        for d in discounts:
            prices = d.apply(prices, qtys)
        return round(float(prices @ qtys) * (1 + self.tax), 2)

    @staticmethod
    def parse(line):
        sku, price, *rest = line.split(",")
        return Item(sku.strip(), float(price), int(rest[0]) if rest else 1)


cart = Cart()
for line in ["pen, 1.50, 10", "book, 12.99", "mug,7.25,3"]:
    cart += Cart.parse(line)
cart.add("pen", 1.5, 5)
print(len(cart), "pen" in cart, "cup" in cart)
for discounts in [(), (Flat(),), (Bulk(10, 0.3),), (Bulk(3, 0.1), Flat(0.02))]:
    print(" + ".join(map(str, discounts)) or "none", cart.total(*discounts))
print(list(cart._items), isinstance(Flat(), Discount), issubclass(Bulk, Discount))
try:
    Discount()
except TypeError:
    print("abstract")
