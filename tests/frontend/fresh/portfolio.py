import numpy as np

tickers = ["AAA", "BBB", "CCC", "DDD"]
rng = np.random.default_rng(99)
n_days = 252
mu = np.array([0.0004, 0.0006, 0.0002, 0.0005])
L = np.tril(rng.uniform(0.001, 0.01, (4, 4)))
returns = mu + rng.standard_normal((n_days, 4)) @ L.T

cov = np.cov(returns, rowvar=False)
corr = np.corrcoef(returns.T)
print("annualised vol:", dict(zip(tickers, np.round(np.sqrt(np.diag(cov) * 252), 3).tolist())))
print(corr.round(2))

# minimum variance portfolio
ones = np.ones(4)
inv_cov = np.linalg.inv(cov)
w = inv_cov @ ones / (ones @ inv_cov @ ones)
for t, wi in zip(tickers, w):
    print(f"{t:>5s}: {wi:7.2%}")

prices = 100 * np.cumprod(1 + returns @ w)
running_max = np.maximum.accumulate(prices)
drawdown = (prices - running_max) / running_max
print(f"max drawdown: {drawdown.min():.2%} on day {drawdown.argmin()}")
sharpe = np.sqrt(252) * (returns @ w).mean() / (returns @ w).std(ddof=1)
print("sharpe ratio: %.3f" % sharpe)
var95 = -np.quantile(returns @ w, 0.05)
print("VaR(95%%): %.4f" % var95)
