#!/usr/bin/env python
# coding: utf-8

# # Linear regression by gradient descent
# In[1]:


import numpy as np
import time
import warnings
warnings.filterwarnings("ignore")
np.random.seed(0)


# In[2]:


m = 50
X = 2 * np.random.rand(m, 1)
y = 4 + 3 * X + np.random.randn(m, 1)
X_b = np.c_[np.ones((m, 1)), X]
X_b[:5]


# In[3]:


theta_best = np.linalg.inv(X_b.T.dot(X_b)).dot(X_b.T).dot(y)
theta_best


# In[4]:


eta = 0.1
theta = np.random.randn(2, 1)
costs = []
for iteration in range(100):
    gradients = 2 / m * X_b.T.dot(X_b.dot(theta) - y)
    theta = theta - eta * gradients
    costs.append(float(np.mean((X_b.dot(theta) - y) ** 2)))
print("theta:", theta.ravel())
print("first/last cost: %.4f %.4f" % (costs[0], costs[-1]))


# In[5]:


t0, t1 = 5, 50


def learning_schedule(t):
    return t0 / (t + t1)


n_epochs = 2
theta_sgd = np.random.randn(2, 1)
for epoch in range(n_epochs):
    for i in range(m):
        random_index = np.random.randint(m)
        xi = X_b[random_index:random_index + 1]
        yi = y[random_index:random_index + 1]
        gradients = 2 * xi.T.dot(xi.dot(theta_sgd) - yi)
        theta_sgd = theta_sgd - learning_schedule(epoch * m + i) * gradients
theta_sgd


# In[6]:


U, s, Vt = np.linalg.svd(X_b, full_matrices=False)
theta_svd = Vt.T @ np.diag(1 / s) @ U.T @ y
print(np.allclose(theta_svd, theta_best))
np.linalg.lstsq(X_b, y, rcond=None)[0]
