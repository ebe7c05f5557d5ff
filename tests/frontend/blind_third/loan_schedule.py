from collections import namedtuple

Payment = namedtuple("Payment", "month interest principal balance")


def schedule(amount, annual_rate, months):
    r = annual_rate / 12
    pay = amount * r / (1 - (1 + r) ** -months)
    balance = amount
    for m in range(1, months + 1):
        interest = balance * r
        principal = pay - interest
        balance -= principal
        yield Payment(m, interest, principal, max(balance, 0.0))


print(f"{'month':>5} | {'interest':>10} | {'principal':>10} | {'balance':>12}")
print("-" * 48)
total = 0
for p in schedule(25_000, 0.049, 36):
    total += p.interest
    if p.month % 6 == 0:
        print(f"{p.month:>5} | {p.interest:>10.2f} | {p.principal:>10.2f} | {p.balance:>12,.2f}")
print(f"total interest: {total:,.2f}")
