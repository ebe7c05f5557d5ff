import io
import numpy as np

CSV = """month,temp,rain
1,2.5,80
2,3.1,64
3,7.8,51
4,11.2,45
5,16.0,
6,19.4,72
"""


def load(text):
    return np.genfromtxt(io.StringIO(text), delimiter=",", skip_header=1)


def main():
    data = load(CSV)
    print("shape:", data.shape)
    month, temp, rain = data.T
    print("missing:", np.isnan(data).sum())
    print("mean temp: %.2f, mean rain: %.2f" % (temp.mean(), np.nanmean(rain)))
    rain = np.where(np.isnan(rain), np.nanmedian(rain), rain)
    corr = np.corrcoef(temp, rain)[0, 1]
    print(f"correlation {corr:.4f}")
    table = np.column_stack((month, temp, rain))
    for row in table:
        print("%2d | %5.1f | %5.1f" % tuple(row))
    warm = table[table[:, 1] > temp.mean(), 0].astype(int)
    print("warm months:", warm.tolist())


if __name__ == "__main__":
    main()
