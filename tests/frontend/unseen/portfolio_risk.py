import numpy as np

TRADING_DAYS = 252


def max_drawdown(values):
    peak = np.maximum.accumulate(values)
    dd = (values - peak) / peak
    end = np.argmin(dd)
    start = np.argmax(values[: end + 1])
    return dd[end], start, end


def sharpe(returns, rf=0.0):
    excess = returns - rf / TRADING_DAYS
    if excess.std() == 0:
        return 0.0
    return np.sqrt(TRADING_DAYS) * excess.mean() / excess.std(ddof=1)


def var_cvar(returns, level=0.95):
    cut = np.percentile(returns, 100 * (1 - level))
    return -cut, -returns[returns <= cut].mean()


def main():
    rng = np.random.RandomState(2024)
    mu = np.array([0.08, 0.12, 0.03]) / TRADING_DAYS
    vol = np.array([0.2, 0.3, 0.05]) / np.sqrt(TRADING_DAYS)
    corr = np.array([[1, 0.6, -0.1], [0.6, 1, 0], [-0.1, 0, 1]])
    cov = np.outer(vol, vol) * corr
    r = rng.multivariate_normal(mu, cov, size=TRADING_DAYS)
    weights = {"60/30/10": [0.6, 0.3, 0.1], "equal": [1 / 3] * 3, "bonds": [0, 0, 1]}
    print(f"{'name':10s}{'return':>9s}{'sharpe':>8s}{'mdd':>9s}{'VaR':>8s}{'CVaR':>8s}")
    for name, w in weights.items():
        port = r @ np.array(w)
        value = 100 * np.cumprod(1 + port)
        mdd, s, e = max_drawdown(value)
        var, cvar = var_cvar(port)
        print(f"{name:10s}{value[-1] / 100 - 1:9.2%}{sharpe(port, 0.02):8.2f}{mdd:9.2%}{var:8.4f}{cvar:8.4f}  days {s}-{e}")


if __name__ == "__main__":
    main()
