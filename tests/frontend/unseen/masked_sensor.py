import numpy as np
import numpy.ma as ma

readings = np.array([20.1, 20.4, -999.0, 21.0, 20.7, -999.0, 22.3, 85.0])
valid = ma.masked_values(readings, -999.0)
valid = ma.masked_greater(valid, 50)
print(valid)
print("n:", valid.count(), "mean: %.3f" % valid.mean(), "std: %.3f" % valid.std())
filled = valid.filled(valid.mean())
print(np.round(filled, 2))
print("anomalies at", np.flatnonzero(ma.getmaskarray(valid)))
print(valid.compressed().tolist())
