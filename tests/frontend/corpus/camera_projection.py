# project(points: float64[20, 3])
import numpy as np


def look_at(eye, target, up):
    f = target - eye
    f = f / np.linalg.norm(f)
    s = np.cross(f, up)
    s /= np.linalg.norm(s)
    u = np.cross(s, f)
    view = np.eye(4)
    view[0, :3], view[1, :3], view[2, :3] = s, u, -f
    view[:3, 3] = -view[:3, :3] @ eye
    return view


def project(points, width=640, height=480, fov=60):
    view = look_at(np.array([0.0, 0.0, 10.0]), np.zeros(3), np.array([0.0, 1.0, 0.0]))
    f = 1 / np.tan(np.deg2rad(fov) / 2)
    near, far = 0.1, 100.0
    P = np.array([[f * height / width, 0, 0, 0], [0, f, 0, 0], [0, 0, (far + near) / (near - far), 2 * far * near / (near - far)], [0, 0, -1, 0]])
    homog = np.c_[points, np.ones(len(points))]
    clip = homog @ view.T @ P.T
    ndc = clip[:, :3] / clip[:, 3:]
    screen = np.empty((len(points), 2))
    screen[:, 0] = (ndc[:, 0] + 1) / 2 * width
    screen[:, 1] = (1 - ndc[:, 1]) / 2 * height
    visible = np.all(np.abs(ndc) <= 1, axis=1)
    return screen.round(), visible
