import numpy as np

principal, annual, years = 200_000.0, 0.045, 3
r = annual / 12
n = years * 12
payment = principal * r / (1 - (1 + r) ** -n)
balance = principal
rows = []
while balance > 1e-6:
    interest = balance * r
    principal_paid = min(payment - interest, balance)
    balance -= principal_paid
    rows.append((len(rows) + 1, interest, principal_paid, balance))
table = np.array(rows)
print("payments:", len(table))
print("total interest: {:,.2f}".format(table[:, 1].sum()))
print(table[[0, 11, 23, -1]].round(2))
yearly = table[:, 1].reshape(years, 12).sum(axis=1)
for i, v in enumerate(yearly, start=1):
    print("year %d: %.2f" % (i, v))
