import numpy as np


class InsufficientFunds(Exception):
    pass


class Account:
    def __init__(self, owner, balance=0.0):
        self.owner = owner
        self.balance = balance
        self.log = []

    def withdraw(self, amount):
        if amount > self.balance:
            raise InsufficientFunds(f"{self.owner} cannot withdraw {amount}")
        self.balance -= amount
        self.log.append(-amount)

    def deposit(self, amount):
        self.balance += amount
        self.log.append(amount)


acc = Account("Ann", 100)
for amount in [30, 50, 40]:
    try:
        acc.withdraw(amount)
    except InsufficientFunds as e:
        print("refused:", e)
acc.deposit(25.5)
print(acc.balance, np.cumsum(acc.log))
