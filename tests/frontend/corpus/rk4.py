import numpy as np
def rk4(f, y, t, h):
    k1 = f(t, y); k2 = f(t + h/2, y + h/2*k1); k3 = f(t + h/2, y + h/2*k2); k4 = f(t + h, y + h*k3)
    return y + h/6*(k1 + 2*k2 + 2*k3 + k4)
lorenz = lambda t, s: np.array([10*(s[1]-s[0]), s[0]*(28-s[2])-s[1], s[0]*s[1]-8/3*s[2]])
s = np.array([1., 1., 1.]); traj = [s]
for i in range(100):
    s = rk4(lorenz, s, i*0.01, 0.01); traj.append(s)
traj = np.stack(traj)
print(traj.shape, traj[-1], traj.std(axis=0))
