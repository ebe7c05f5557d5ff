import numpy as np


class Layer:
    def forward(self, x):
        raise NotImplementedError

    def backward(self, grad):
        raise NotImplementedError


class Dense(Layer):
    def __init__(self, n_in, n_out, rng):
        self.W = rng.normal(0, np.sqrt(2 / n_in), (n_in, n_out))
        self.b = np.zeros(n_out)

    def forward(self, x):
        self.x = x
        return x @ self.W + self.b

    def backward(self, grad, lr=0.1):
        dx = grad @ self.W.T
        self.W -= lr * self.x.T @ grad
        self.b -= lr * grad.sum(axis=0)
        return dx


class Tanh(Layer):
    def forward(self, x):
        self.out = np.tanh(x)
        return self.out

    def backward(self, grad):
        return grad * (1 - self.out**2)


class Sequential:
    def __init__(self, *layers):
        self.layers = list(layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def backward(self, grad):
        for layer in reversed(self.layers):
            grad = layer.backward(grad)
        return grad


def main():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    y = np.array([[0], [1], [1], [0]], dtype=float)
    rng = np.random.default_rng(3)
    net = Sequential(Dense(2, 8, rng), Tanh(), Dense(8, 1, rng))
    for epoch in range(300):
        out = net.forward(X)
        diff = out - y
        loss = float(np.mean(diff**2))
        net.backward(2 * diff / len(X))
        if (epoch + 1) % 100 == 0:
            print(f"epoch {epoch + 1}: mse={loss:.6f}")
    print("predictions:", np.round(net.forward(X).ravel(), 2))
    print("classes:", (net.forward(X).ravel() > 0.5).astype(int).tolist())


if __name__ == "__main__":
    main()
