import numpy as np


def pca(X: np.ndarray, n_components: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Principal component analysis through the eigenvectors of the covariance."""
    mean = X.mean(axis=0)
    Xc = X - mean
    cov = Xc.T @ Xc / (X.shape[0] - 1)
    eigvals, eigvecs = np.linalg.eigh(cov)
    idx = np.argsort(eigvals)[::-1]
    eigvals = eigvals[idx]
    eigvecs = eigvecs[:, idx]
    # fix the sign so that output is deterministic
    signs = np.sign(eigvecs[np.abs(eigvecs).argmax(axis=0), range(eigvecs.shape[1])])
    eigvecs = eigvecs * signs
    scores = Xc @ eigvecs[:, :n_components]
    explained = eigvals / eigvals.sum()
    return scores, eigvecs[:, :n_components], explained


def main() -> None:
    rng = np.random.default_rng(7)
    latent = rng.standard_normal((100, 2))
    mixing = rng.standard_normal((2, 5))
    X = latent @ mixing + 0.05 * rng.standard_normal((100, 5))
    scores, components, explained = pca(X, 2)
    print("scores shape:", scores.shape)
    for i, e in enumerate(explained, start=1):
        print(f"PC{i}: {e:.2%}")
    recon = scores @ components.T + X.mean(axis=0)
    err = np.sqrt(np.mean((recon - X) ** 2))
    print(f"reconstruction RMSE = {err:.5f}")
    assert np.allclose(components.T @ components, np.eye(2), atol=1e-10)


if __name__ == "__main__":
    main()
