import numpy as np


class Layer:
    def forward(self, x):
        raise NotImplementedError

    def backward(self, grad, lr):
        raise NotImplementedError


class Dense(Layer):
    def __init__(self, n_in, n_out):
        limit = np.sqrt(6.0 / (n_in + n_out))
        self.weights = np.random.uniform(-limit, limit, (n_in, n_out))
        self.bias = np.zeros((1, n_out))
        self.input = None

    def forward(self, x):
        self.input = x
        return np.dot(x, self.weights) + self.bias

    def backward(self, grad, lr):
        grad_input = np.dot(grad, self.weights.T)
        self.weights -= lr * np.dot(self.input.T, grad)
        self.bias -= lr * grad.sum(axis=0, keepdims=True)
        return grad_input


class Activation(Layer):
    def __init__(self, fn, fn_prime):
        self.fn = fn
        self.fn_prime = fn_prime

    def forward(self, x):
        self.input = x
        return self.fn(x)

    def backward(self, grad, lr):
        return grad * self.fn_prime(self.input)


class Tanh(Activation):
    def __init__(self):
        super().__init__(np.tanh, lambda x: 1 - np.tanh(x) ** 2)


np.random.seed(0)
X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
Y = np.array([[0], [1], [1], [0]], dtype=float)
network = [Dense(2, 4), Tanh(), Dense(4, 1), Tanh()]

for epoch in range(300):
    out = X
    for layer in network:
        out = layer.forward(out)
    error = np.mean((Y - out) ** 2)
    grad = 2 * (out - Y) / np.size(Y)
    for layer in reversed(network):
        grad = layer.backward(grad, 0.5)
    if (epoch + 1) % 100 == 0:
        print(f"epoch {epoch + 1:4d} error={error:.6f}")

print(np.round(out, 3))
