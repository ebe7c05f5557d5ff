import numpy as np
np.random.seed(42)

# Generate data
X = 2 * np.random.rand(50, 1)
y = 4 + 3 * X + np.random.randn(50, 1)

# Normal equation
X_b = np.c_[np.ones((50, 1)), X]
theta_best = np.linalg.inv(X_b.T.dot(X_b)).dot(X_b.T).dot(y)
print("theta (normal eq):", theta_best.ravel())

# Batch gradient descent
eta = 0.1
theta = np.random.randn(2, 1)
for iteration in range(200):
    gradients = 2 / 50 * X_b.T.dot(X_b.dot(theta) - y)
    theta = theta - eta * gradients
print("theta (GD):", theta.ravel())

# Stochastic
theta_path = []
t0, t1 = 5, 50
theta = np.random.randn(2, 1)
for epoch in range(3):
    for i in range(50):
        random_index = np.random.randint(50)
        xi = X_b[random_index:random_index + 1]
        yi = y[random_index:random_index + 1]
        g = 2 * xi.T.dot(xi.dot(theta) - yi)
        lr = t0 / (epoch * 50 + i + t1)
        theta = theta - lr * g
        theta_path.append(theta)
print("theta (SGD):", theta.ravel(), "after", len(theta_path))

X_new = np.array([[0], [2]])
X_new_b = np.c_[np.ones((2, 1)), X_new]
print("predictions:", X_new_b.dot(theta_best))
ss_res = ((y - X_b @ theta_best) ** 2).sum()
ss_tot = ((y - y.mean()) ** 2).sum()
print(f"R^2 = {1 - ss_res / ss_tot:.4f}")
