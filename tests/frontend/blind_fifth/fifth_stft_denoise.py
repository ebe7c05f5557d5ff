"""Spectral-gating noise reduction with an STFT written by hand."""
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def stft(x, n_fft=128, hop=32, window=None):
    if window is None:
        window = np.hanning(n_fft)
    frames = sliding_window_view(x, n_fft)[::hop]
    return np.fft.rfft(frames * window, axis=-1)


def istft(S, n_fft=128, hop=32, length=None):
    window = np.hanning(n_fft)
    frames = np.fft.irfft(S, n=n_fft, axis=-1)
    out = np.zeros((len(frames) - 1) * hop + n_fft)
    norm = np.zeros_like(out)
    for i, f in enumerate(frames):
        sl = slice(i * hop, i * hop + n_fft)
        out[sl] += f * window
        norm[sl] += window ** 2
    out = np.divide(out, norm, out=np.zeros_like(out), where=norm > 1e-8)
    return out if length is None else out[:length]


def snr(clean, noisy):
    return 10 * np.log10(np.sum(clean ** 2) / np.sum((clean - noisy) ** 2))


def main():
    rng = np.random.default_rng(1234)
    fs = 1000
    t = np.arange(1024) / fs
    clean = np.sin(2 * np.pi * 50 * t) + 0.5 * np.sin(2 * np.pi * 120 * t)
    noisy = clean + 0.4 * rng.standard_normal(t.shape)
    S = stft(noisy)
    mag, phase = np.abs(S), np.angle(S)
    thresh = np.quantile(mag, 0.75, axis=0, keepdims=True)
    mask = mag > np.maximum(thresh * 0.9, 2.0)
    rec = istft(mag * mask * np.exp(1j * phase), length=len(noisy))
    core = slice(128, 800)
    print(f"frames={S.shape[0]}, bins={S.shape[1]}")
    print(f"SNR before: {snr(clean[core], noisy[core]):6.2f} dB")
    print(f"SNR after : {snr(clean[core], rec[core]):6.2f} dB")
    print("active bins per frame:", mask.sum(1)[:10])


if __name__ == "__main__":
    main()
