import numpy as np


class InsufficientFunds(Exception):
    def __init__(self, need, have):
        super().__init__(f"need {need}, have {have}")
        self.need = need
        self.have = have


class Account:
    count = 0

    def __init__(self, owner, balance=0):
        self.owner = owner
        self._balance = balance
        Account.count += 1

    @property
    def balance(self):
        return self._balance

    def withdraw(self, amount):
        if amount > self._balance:
            raise InsufficientFunds(amount, self._balance)
        self._balance -= amount

    def __repr__(self):
        return f"Account({self.owner!r}, {self._balance})"

    def __lt__(self, other):
        return self.balance < other.balance


accounts = [Account("ann", 100), Account("bob", 40), Account("cy")]
for acc, amt in zip(accounts, np.array([30, 50, 10])):
    try:
        acc.withdraw(amt)
    except InsufficientFunds as exc:
        print(acc.owner, "->", exc, exc.need - exc.have)
    else:
        print(acc.owner, "withdrew", amt)
    finally:
        print("checked", acc.owner)
print(sorted(accounts), Account.count, max(accounts))
