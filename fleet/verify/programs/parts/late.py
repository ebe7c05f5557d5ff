"""Statements about values known only at run time: an array's own sizes, and indices into arrays of known shapes."""

from __future__ import annotations

from fleet.verify.programs.parts.hand import Hand, KnownExpression, Redraw

_LATE = r"""
{v} = {v}[{v}.shape[0] - 1]
{v} = {v}[{v}.shape[0] - 1, ..., None]
{v} = {v}[..., {v}.shape[-1] - 1]
{v} = {v}[None, {v}.shape[0] - 1, ...]
{v} = {v}[{v}.shape[0] - 1, {v}.shape[1] - 1]
{v} = {v}[::2][{v}[::2].shape[0] - 1]
{v} = {v}[[0], {v}.shape[-1] - 1]
{v} = {v}[:, {v}.shape[1] // 2]
{v} = {v}[1:, {v}.shape[1] - 1][0]
{v} = {v}[:: {v}.shape[0]]
{v} = {v}[: -{v}.shape[0] // 2]
{v} = {v}[{v}.shape[0] // 2 :][::-1]
{v} = {v}[: {v}.shape[0] - 1 : 2] * 2
{v} = {v}[{v}.shape[0] :: -1]
{v} = {v}[1 : {v}.shape[0] - 1, ..., :1]
{v} = {v}[-1 : -{v}.shape[0] : -1]
p = np.arange({v}.shape[0])\n{v} = {v}.T + p
{v} = {v}.T * np.arange(1, {v}.shape[0] + 1)
p = np.arange(0, {v}.shape[0], 2, dtype=np.int16)\n{v} = {v} + p.sum()
{v} = {v}.T + np.arange({v}.shape[0], 0, -1)
{v} = {v} + np.arange({v}.shape[0], dtype='float32').max()
p = np.arange(2, {v}.shape[0])\n{v} = {v} * p.sum()
p = np.eye({v}.shape[0], {v}.shape[-1], k={k})\n{v} = {v} + p.sum()
p = np.eye({v}.shape[0], dtype=bool)\n{v} = {v}.T * p.any(axis=0)
p = np.eye(3, {v}.shape[0])\n{v} = {v} + p
p = np.tri({v}.shape[0], k=-1)\n{v} = {v} + p.sum()
p = np.tri({v}.shape[0], 3, {k}, dtype=bool)\n{v} = {v} * p.sum()
p = np.tri(4, {v}.shape[0], dtype='int8')\n{v} = {v} - p.max()
{v} = np.full_like({v}, {n})
{v} = np.zeros_like({v}) + np.ones_like({v}, dtype='int16')
{v} = np.full({v}.shape, {v}.sum())
{v} = np.full({v}.shape, {n}, dtype='float32')
{v} = np.full({v}.shape, {v}.shape[0])
{v} = np.full(({v}.shape[0], 2), {v}.max())
{v} = np.full(3, {v}.shape[0])
{v} = np.zeros(({v}.shape[0], 1)) + {v}
{v} = np.shape({v})[0] * {v}
{v} = {v} + np.size({v}) + np.ndim({v}) + len(np.shape({v}))
{v} = np.asarray({v}.shape[0]) + {v}
{v} = np.array({v}.shape[0]) * {v}
{v} = np.add({v}.shape[0], 1) + {v}
{v} = np.sqrt({v}.shape[0]) * {v}
{v} = np.array([{v}.shape[0], 2]) + {v}.sum()
{v} = np.stack([{v}.shape[0], {k}]) + {v}.max()
{v} = {v}.nbytes + {v}
{v} = -{v}.shape[0] + {v}
{v} = +{v}.shape[0] + {v}
{v} = ~{v}.shape[0] + {v}
{v} = {v}.size * {v}.itemsize + {v}
{v} = {v} + {v}.T.nbytes
{v} = {v}.shape[0] ** 0.5 * {v}
{v} = {v}.shape[0] ** 2 + {v}
{v} = ({v}.shape[0] & 1) + {v}
{v} = ({v}.shape[0] << 1) + {v}
{v} = 2 ** {v}.shape[0] + {v}
{v} = {v}.shape[0] / 2 + {v}
{v} = {v}.shape[0] // 2 * {v}
{v} = {v}.shape[0] % 3 - {v}
{v} = ({v}.shape[0] + 1) * ({v}.shape[0] - 1) + {v}
{v} = 7 // ({v}.shape[0] + 1) + {v}
{v} = {v} + 1 if {v}.shape[0] > 3 else {v} * 2
{v} = {v} + ({v}.shape[0] == 3)
{v} = {v} + (not {v}.shape[0])
{v} = {v} + min({v}.shape[0], 3)
{v} = max(1, {v}.shape[0]) * {v}
{v} = {v} + int({v}.shape[0])
{v} = {v} + float({v}.shape[0])
{v} = {v} + abs({v}.shape[0])
{v} = {v} + round({v}.shape[0] / 2)
{v} = {v} + sum({v}.shape)
for p in {v}:\n    {v} = {v} + p
for p in range({v}.shape[0]):\n    {v} = {v} + p
{v} = np.stack([p * 2 for p in {v}])
p, *q = {v}\n{v} = p
{v} = np.squeeze({v})
{v} = np.squeeze({v}, axis=0)
{v} = np.squeeze({v}[None], axis=0)
{v} = np.squeeze({v}[..., None], axis=-1) + 1
{v} = np.median({v}, axis=0)
{v} = np.diff({v}, axis=0)
{v} = np.roll({v}, 1, axis=0)
{v} = np.roll({v}, 2)
{v} = np.split({v}, 2)[0]
{v} = np.array_split({v}, [1])[1]
{v} = np.var({v}, axis=0, ddof=1)
{v} = np.std({v}, ddof=1)
{v} = np.var({v}, axis=0)
{v} = {v}[[0, 1], [0, 1]]
{v} = {v}[[0, 1]]
{v} = {v}[np.array([0]), :, [0]]
{v} = np.diagonal({v})
{v} = np.trace({v})
{v} = np.tril({v})
{v} = np.triu({v}, k={k})
{v} = np.repeat({v}, 2, axis=0)
{v} = np.repeat({v}, 2)
{v} = np.tile({v}, 2)
{v} += {v}[0]
{v} += {v}[:1]
{v} *= {v}.sum(axis=0)
{v} += {v}.sum(axis=0, keepdims=True)
{v} += {v}.sum(axis=-1, keepdims=True)
{v} -= np.zeros({v}.shape[-1:], bool)
{v} += np.zeros(3, bool)
{v} += np.zeros((2, 1), bool)
{v} += np.zeros((1, 1, 1, 1), bool)
{v} &= {v} > 0
{v} += {v}.T
{v} *= np.ones({v}.shape[0], bool)
{v}[0] = {n}
{v}[...] = {n}
{v}[{v} > 0] = {n}
{v}[[0, 1]] = {n}
{v}[1:] += {n}
{v}.fill({n})
{v}.sort(kind='stable')
{v}[{v}.shape[0] - 1] = {n}
np.put_along_axis({v}, np.zeros({v}.shape, int), {n}, axis=0)
{v} = np.take_along_axis({v}, np.argsort({v}, axis=0, kind='stable'), axis=0)
{v} = np.take({v}, [0], axis=0)
{v} = np.take({v}, -1, axis=0)
{v} = np.take({v}, {v}.shape[0] - 1, axis=0)
{v} = np.sort({v}, axis=-1, kind='stable')
{v} = np.sort({v}, axis=0, kind='stable')
{v} = np.argsort({v}, axis=None, kind='stable')
{v} = np.meshgrid({v}, [1, 2])[{k} % 2]
{v} = np.meshgrid({v}, {v}, indexing='ij')[0]
{v} = np.meshgrid([1, 2], {v})[1]
{v} = np.pad({v}, 1)
{v} = np.pad({v}, ((0, 1),) * {v}.ndim)
{v} = {v}.reshape({v}.shape[0], -1) * 2
{v} = {v}.reshape({v}.size, 1)
{v} = {v}.reshape(1, *{v}.shape, 1)
{v} = {v}.reshape({v}.shape[0] * {v}.shape[1], -1)
{v} = {v}.reshape({v}.shape[1], {v}.shape[0], -1)
{v} = {v}.reshape(2, {v}.shape[0], -1)
{v} = {v}.reshape({v}.shape[0], 1, 1, -1)
{v} = {v}.reshape(-1, 2)
{v} = {v}.reshape(-1)
{v} = {v}.reshape({v}.shape[0], 0)
{v} = {v}.T.reshape({v}.shape)
{v} = np.broadcast_to({v}, (2, *{v}.shape))
{v} = np.broadcast_to({v}[:1], {v}.shape) * 2
{v} = np.broadcast_to({n}, ({v}.shape[0], 2)) + {v}.sum()
{v} = np.broadcast_to({v}.sum(), {v}.shape)
{v} = np.concatenate([{v}, {v}[:1]])
{v} = np.concatenate([{v}, {v}], axis=-1)
{v} = np.stack([{v}, {v} + 1], axis={k} % 2)
{v} = np.hstack([{v}, {v}])
{v} = np.vstack([{v}, {v}])
{v} = np.column_stack([{v}, {v}])
{v} = np.dstack([{v}, {v}])
{v} = np.append({v}, {v})
{v} = np.append({v}, {v}, axis=0)
{v} = np.flip({v}, axis=0) + {v}
{v} = np.flip({v})
{v} = np.expand_dims({v}, (0, -1))
{v} = {v} @ {v}.T
{v} = {v}.T @ {v}
{v} = np.outer({v}, {v})
{v} = np.einsum('i...->...', {v})
{v} = np.einsum('i,i->', {v}, {v})
{v} = np.dot({v}, {v})
{v} = np.inner({v}, {v})
{v} = np.array_equal({v}, {v}) + {v}
{v} = np.allclose({v}, {v}) + {v}
{v} = np.where({v} > 0, {v}, {v}.shape[0])
{v} = np.where({v} > 0, {v}.shape[0], {v}.size)
{v} = np.clip({v}, 0, {v}.shape[0])
{v} = np.isclose({v}, {v}.shape[0])
{v} = np.maximum({v}, {v}.shape[0])
{v} = np.heaviside({v}, {v}.shape[0])
{v} = np.power({v}, {v}.shape[0])
{v} = {v} > {v}.shape[0]
{v} = np.round({v}, {v}.shape[0])
{v} = np.sum({v}, axis={v}.shape[0] - 1)
{v} = np.linspace(0, 1, {v}.shape[0]) + {v}.sum()
{v} = np.linspace(0, {v}.shape[0], 3)
{v} = np.ones({v}.shape[0] // 2) + {v}.sum()
{v} = np.nonzero({v})[0]
{v} = np.average({v}, axis=0)
{v} = np.ptp({v}, axis=0)
{v} = np.nanmean({v}, axis=0)
{v} = np.count_nonzero({v}, axis=0)
{v} = np.linalg.norm({v})
{v} = np.mean({v}) / {v}.size
p = {v}.shape\n{v} = {v} + p[0] * p[-1]
p, *q = {v}.shape\n{v} = {v} * p + len(q)
p = {v}.shape[0]\nq = p * 2\n{v} = {v} + q - p
p = [{v}.shape[0], 2]\n{v} = {v}.sum() + np.zeros(p)
""".strip().split("\n")
"""One statement per row, with `\n` for a new line."""


_PLACES = "p = np.arange(24).reshape(2, 3, 4) + {v}.sum()\nq = np.argsort({v}.reshape(-1)[:1], kind='stable')\n"
"""An array of a known shape and an index, both with values known only at run time."""
_BY_PLACE = r"""
{v} = p[q, 1, q + 1]
{v} = p[0, q + 1, [1, 3]]
{v} = p[:, q, q + 2]
{v} = p[q, 2]
{v} = p[1, q]
{v} = p[0, [0, 2], [1, 3]]
{v} = p[[0, 1], 1, [1, 3]]
{v} = p[[0, 1], [1, 2], 0]
{v} = p[1, [0, 2], 0]
{v} = p[1, 0, [1, 2]] + p[[0, 1], 2, 0]
{v} = p[:, [0, 1], [1, 1]]
{v} = p[..., [0, 1], [1, 1]]
{v} = p[None, [0, 1], [1, 2]]
{v} = p[[0, 1], [1, 2], None]
{v} = p[[0, 1], [1, 2], 1:3]
{v} = p[1:, [0, 1], [1, 1]]
{v} = p[::-1, [0, 1], 1]
{v} = p[[0, 1], ..., 1]
{v} = p[0, :, [1, 2]]
{v} = p[..., q]
{v} = p[1, ..., q]
{v} = p[1:, ..., q]
{v} = p[:, None, q]
{v} = p[None, q]
{v} = p[q, None]
{v} = p[q, ..., None, 1:]
{v} = p[q[:, None], q]
{v} = p[q[:, None], [0, 1, 2]]
{v} = p[[0, 1], q]
{v} = p[q.astype(np.uint8)]
{v} = p[q.astype(np.uint8), 1]
{v} = p[q - 1] * p[-q]
{v} = p[q - 1, q - 2]
{v} = p[[[0, 1], [1, 0]]]
{v} = p[:, [[0, 1], [1, 0]]]
{v} = p[[True, False]]
{v} = p[:, [True, False, True]]
{v} = p[[True, False], 1]
{v} = p[np.array([[True, False, True], [False, True, False]])]
{v} = p[np.arange(24).reshape(2, 3, 4) % 3 == 0]
{v} = p[np.array([True, False]), [1]]
{v} = p[range(2)]
{v} = p[(0, 1), (1, 2)]
{v} = p[np.int8(1)] + p[np.array(0)] + p[np.uint16(1), 0]
{v} = p[-1, -1, -1] + p[..., -1][0, 1] + p[0][1][2]
{v} = p[()] + p[...]
{v} = p[1:1] * 2
{v} = p[5:, 1:]
{v} = p[0:2:1, 0, 0:4:1]
p[q] = 0
{v} = p
p[q, 1] = {n}
{v} = p
p[q, q + 1, 2] = {n}
{v} = p
p[q, 1, :] = np.arange(4)
{v} = p
p[q, :, :] = np.arange(4)
{v} = p
p[q, 1] = np.ones((1, 4))
{v} = p
p[q, ..., 0] = {n}
{v} = p
p[0, q] = {n}
{v} = p
p[1, 2, q + 1] = {n}
{v} = p
p[[0, 1], q] = p[0, :2]
{v} = p
p[[0, 1], [2, 1]] = p[1, 1:]
{v} = p
p[[0, 1], 1:, [2, 1]] = {n}
{v} = p
p[p > 3] = 0
{v} = p
p[p[..., 0] > 3] = np.arange(4)
{v} = p
p[p[..., 0] > 3] = np.ones((1, 4))
{v} = p
p[p[..., 0] > 3] = np.ones(1)
{v} = p
p[p[:, 0, 0] > 3] = np.ones((3, 1))
{v} = p
p[p[:, 0, 0] > 3] = np.ones(4)
{v} = p
p[p[:, 0, 0] > 3] = np.ones((1, 3, 4))
{v} = p
p[p[:, 0, 0] > 3, 0] = 1
{v} = p
p[:, p[0, :, 0] > 3] = 1
{v} = p
p[p > 3] += 1
{v} = p
p[q] += 1
{v} = p
p[q] *= p[1:]
{v} = p
p[1:, 0] = p[0, 1:3][1]
{v} = p
p[:, ::2, 1] = [[1, 2]]
{v} = p
p[1] = np.ones((1, 1, 3, 4))
{v} = p
p[..., 1] = np.arange(3)
{v} = p
p[0, 1, 2] = p[1, 1, 1]
{v} = p
p[0:1] = {n}
{v} = p
p[0:0] = {n}
{v} = p
p[::-1] = p * 2
{v} = p
p[:, 1:2] = p[:, :1] + 1
{v} = p
p[[1, 0]] = p
{v} = p
p[None, 0] = {n}
{v} = p
p[()] = {n}
{v} = p
np.put_along_axis(p, q.reshape(1, 1, 1), 7, axis=2)
{v} = p
np.put_along_axis(p, np.zeros((2, 1, 4), int), 7, axis=1)
{v} = p
np.put_along_axis(p, np.zeros((1, 3, 4), int), p[:1], axis=0)
{v} = p
{v} = np.take_along_axis(p, q.reshape(1, 1, 1), axis=2)
{v} = np.take_along_axis(p, np.argsort(p, axis=1, kind='stable')[:, :1], 1)
{v} = np.take_along_axis(p, np.ones((2, 3, 2), np.int8), axis=-1)
{v} = np.take_along_axis(p, np.array([3, 0, 23]), axis=None)
{v} = np.take(p, q, axis=1) + np.take(p, [[0, 1]], axis=2)[0, :1]
{v} = np.take(p, [23, -24, 5]) + np.take(p, 7)
{v} = np.repeat(p, 2, axis=-2)
{v} = np.meshgrid(p[0, 0], [1, 2], q)[1]
{v} = np.meshgrid(p[0, 0])[0] + np.meshgrid(p[0, 0], 3, indexing='ij')[1].T
{v} = np.inner(p[0], p[0])
{v} = np.inner(p[0, 0], p[0, 1]) + np.vdot(p[1, 1], p[1, 2]) + np.outer(p[0, 1], [1, 2])
{v} = np.dot(p[0], p[0, 0]) + np.dot(p[0, 0], 2)[:3]
{v} = np.matmul(p, p[0].T)
{v} = p @ p[0, 0]
{v} = p[0, 0] @ p.swapaxes(1, 2)
{v} = np.clip(p, [0, 1, 2, 3], p[0])
{v} = np.median(p, axis=1) + np.median(p)
{v} = np.diff(p, n=2, axis=1) + np.diff(p, axis=0)[:, :1]
{v} = np.nonzero(np.arange(4) % 2)[0] + p[0, 0, 1:3]
{v} = np.array([p[0, 0], [1, 2, 3, 4]])
{v} = np.array([[p.max(), 1], [2, p.min()]], dtype='float32')
{v} = np.stack([p[0, 0], np.arange(4), p[0, 1]], axis=1)
{v} = np.concatenate((p[0], p[1], np.zeros((1, 4))))
{v} = np.concatenate(p, axis=1) + np.stack(p)[0][:, :1]
{v} = np.hstack([p[0, 0], 1, [2, 3]])
{v} = np.vstack([p[0, 0], [1, 2, 3, 4]]) + np.vstack([1, 2, p[0, 0, 0]])[0]
{v} = np.column_stack([p[0, 0], [1, 2, 3, 4], p[0].T])
{v} = np.dstack([p[0], p[1]]) + np.dstack([p[0, 0], [1, 2, 3, 4]])[0, :1]
{v} = np.split(p, [1, 2], axis=2)[1] + np.split(p, 3, axis=1)[2][..., :1]
{v} = np.array_split(p, 3, axis=2)[1] + np.array_split(p, [-1], axis=1)[0][:, :, :1]
{v} = np.tile(p[0], (2, 1, 1)) + np.tile(p[0], 2)[:, :4]
{v} = np.pad(p, ((0, 1), (1, 0), (2, 2)), constant_values=3)
{v} = np.pad(p, (1, 2)) + np.pad(p[0, 0], 1, mode='constant')[1]
{v} = np.roll(p, 5) + np.roll(p, -1, axis=1) + np.roll(p, 0, axis=2)
{v} = np.transpose(p, (2, 0, 1)) + p.transpose(2, 0, 1) + np.moveaxis(p, 2, 0)
{v} = np.moveaxis(p, [0, 1], [-1, 0]) + np.moveaxis(p, (0, 1), (2, 0))
{v} = np.expand_dims(p, (0, -1)) + np.expand_dims(p, 2).reshape(1, 2, 3, 4, 1)
{v} = np.squeeze(p[:, :1], axis=1) + np.squeeze(p[:1, :1]) + np.squeeze(p[:1], (0,))[0]
{v} = np.flip(p, (0, 2)) + np.flipud(p) + np.fliplr(p) + np.flip(p)
{v} = np.tril(p, k=1) + np.triu(p, -1) + np.tril(p[0])
{v} = np.diagonal(p[0]) + np.trace(p[0]) + np.diagonal(p[0, :2])[0]
{v} = np.var(p, axis=(0, 2), ddof=1) + np.std(p, axis=(1, 2), keepdims=True)[0, 0]
{v} = np.linalg.norm(p, axis=1) + np.linalg.norm(p[0]) + np.linalg.norm(p[0, 0], ord=2)
{v} = np.cumsum(p, axis=1) + np.cumsum(p)[0] + p.cumsum(axis=-1)
{v} = np.argmax(p, axis=1) + np.argmin(p, 0)[:1] + p.argmax()
{v} = np.ptp(p, axis=0, keepdims=True) + np.average(p, axis=1)[:, None] + np.count_nonzero(p, axis=2)[..., None]
{v} = np.einsum('ijk->ki', p) + np.einsum('ijk,k->ki', p, p[0, 0]).T.T
{v} = np.einsum('...k,k', p, p[0, 0]) + np.einsum('i...->...', p)[:2, :3]
""".strip().split("\n")


def late(h: Hand, v: str, part: KnownExpression) -> list[str]:
    """Draw one or two of these statements."""
    if part.ndim == 0:
        raise Redraw
    if h.chance(0.4):
        return (_PLACES + h.one(_BY_PLACE).replace("\\n", "\n")).format(v=v, n=h.number(part)).split("\n")
    rows = [h.one(_LATE)] + [h.one(_LATE)] * h.chance(0.2)
    return "\n".join(rows).replace("\\n", "\n").format(v=v, n=h.number(part), k=h.integer(0, 4)).split("\n")
