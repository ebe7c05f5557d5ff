# holt_winters(y: float64[36] positive)
import numpy as np


def holt_winters(y, m=12, alpha=0.3, beta=0.1, gamma=0.2, horizon=6):
    level = y[:m].mean()
    trend = (y[m : 2 * m].mean() - y[:m].mean()) / m
    season = list(y[:m] - level)
    fitted = []
    for t in range(len(y)):
        s = season[t % m]
        fitted.append(level + trend + s)
        last = level
        level = alpha * (y[t] - s) + (1 - alpha) * (level + trend)
        trend = beta * (level - last) + (1 - beta) * trend
        season[t % m] = gamma * (y[t] - level) + (1 - gamma) * s
    forecast = [level + (h + 1) * trend + season[(len(y) + h) % m] for h in range(horizon)]
    fitted = np.array(fitted)
    mape = np.mean(np.abs((y - fitted) / y)) * 100
    return np.array(forecast), mape
