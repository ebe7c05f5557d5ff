"""A tiny state-vector simulator."""
import numpy as np

H = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
X = np.array([[0, 1], [1, 0]])
Y = np.array([[0, -1j], [1j, 0]])
Z = np.array([[1, 0], [0, -1]])
I = np.eye(2)
CNOT = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])


class Register:
    def __init__(self, n):
        self.n = n
        self.state = np.zeros(2**n, dtype=complex)
        self.state[0] = 1

    def apply(self, gate, qubit):
        ops = [I] * self.n
        ops[qubit] = gate
        full = ops[0]
        for op in ops[1:]:
            full = np.kron(full, op)
        self.state = full @ self.state
        return self

    def apply_two(self, gate):
        self.state = gate @ self.state
        return self

    def probabilities(self):
        return np.abs(self.state) ** 2


def main():
    bell = Register(2).apply(H, 0).apply_two(CNOT)
    print("bell:", bell.state)
    print("probs:", bell.probabilities())
    assert np.isclose(bell.probabilities().sum(), 1)
    q = Register(1).apply(H, 0).apply(Y, 0)
    print(q.state)
    print("expectation of Z:", np.vdot(q.state, Z @ q.state).real)
    print("Y is unitary:", np.allclose(Y @ Y.conj().T, np.eye(2)))
    comm = X @ Y - Y @ X
    print(comm, np.allclose(comm, 2j * Z))


if __name__ == "__main__":
    main()
