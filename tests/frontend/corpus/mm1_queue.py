# waiting_times(interarrival: float64[50] positive, service: float64[50] positive)
import numpy as np


def waiting_times(interarrival, service):
    n = len(service)
    wait = np.zeros(n)
    for i in range(1, n):
        wait[i] = max(0.0, wait[i - 1] + service[i - 1] - interarrival[i])
    arrivals = np.cumsum(interarrival)
    departures = arrivals + wait + service
    in_system = np.searchsorted(arrivals, departures, side="right") - np.arange(1, n + 1)
    utilisation = service.sum() / departures[-1]
    return wait.mean(), np.percentile(wait, 90), in_system.max(), utilisation
