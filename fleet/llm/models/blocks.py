"""The parts of a transformer as graph operators, for all architectures.

Every node has a name like "blocks.3.wq"; a constant has the name of its weight. Weights are read on access.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fleet.ir.accel import attention, pointwise, products, views
from fleet.ir.accel.nodes import ConstantNode, Node, OperatorCall, TupleNode, VarNode
from fleet.llm.config import ModelConfig, Rope
from fleet.llm.models.options import ModelOptions
from fleet.symbols.expr import Expr

Read = Callable[[str], np.ndarray]


def rotary_table(config: ModelConfig, rope: Rope, positions: int) -> np.ndarray:
    """Return [2, positions, D / 2] float64: cosines and sines of every adjacent pair; (1, 0) for channels that are not rotated."""
    table = np.zeros((2, positions, config.head_channels // 2))
    table[0] = 1
    pairs = config.rotary // 2
    angle = np.arange(positions)[:, None] * np.array(rope.frequencies)
    table[:, :, :pairs] = rope.magnitude * np.stack([np.cos(angle), np.sin(angle)])
    return table


@dataclass
class Blocks:
    """Makes the nodes of one model.

    Attributes:
        config: the model's shape.
        options: the instruction sequence.
        read: returns a weight by its name; None without weights.
        token: the dynamic dimension.
    """

    config: ModelConfig
    options: ModelOptions
    read: Read | None
    token: Expr
    _constants: dict[str, ConstantNode] = field(default_factory=dict[str, ConstantNode])

    # ---- constants

    def _constant(
        self, name: str, shape: tuple[int, ...], make: Callable[[Read], np.ndarray], *, matrix: bool = False
    ) -> ConstantNode:
        """Return the constant of a name; it is created once."""
        if name not in self._constants:
            read = self.read
            data = None if read is None else lambda: make(read)
            self._constants[name] = products.const_hbm(name, data, shape) if matrix else products.const_ddr(name, data, shape)
        return self._constants[name]

    def _matrix(self, name: str, parts: Sequence[str], inputs: int, outputs: int) -> ConstantNode:
        """Return a matrix of one weight, or of several side by side."""

        def make(read: Read) -> np.ndarray:
            return read(parts[0]) if len(parts) == 1 else np.concatenate([read(p) for p in parts], axis=1)

        return self._constant(name, (inputs, outputs), make, matrix=True)

    def _words(self, name: str, parts: Sequence[str], outputs: int, *, bias: bool) -> ConstantNode:
        """Return batch norm words [2, outputs]: weight 1, and the bias or zeros."""

        def make(read: Read) -> np.ndarray:
            biases = np.concatenate([read(f"{p}.bias") for p in parts]) if bias else np.zeros(outputs)
            return np.stack([np.ones(outputs), biases])

        return self._constant(f"{name}.bn", (2, outputs), make)

    # ---- operators

    def place(self, call: OperatorCall, place: str) -> OperatorCall:
        """Place the call's result in a memory block. place: "onchip" (if the options allow it) or "runtime"."""
        call.prefix = "onchip" if place == "onchip" and self.options.onchip else "runtime"
        return call

    def linear(
        self, node: str, x: Node, weights: Sequence[str], sizes: tuple[int, int], *, bias: bool = False,
        residual: Node | None = None, multiply: bool = False, argmax: bool = False, place: str = "onchip",
    ) -> OperatorCall:  # fmt: skip
        """Build x @ w (+ bias) (+ or * residual) with the fewest operators. weights: one name, or several side by side.

        argmax: the call has two results, [0] the product and [1] the index of its largest channel.
        """
        name = weights[0] if len(weights) == 1 else "+".join([weights[0], *(w.rsplit(".", 1)[-1] for w in weights[1:])])
        matrix = self._matrix(name, weights, *sizes)
        if residual is None and not bias and not argmax:
            return self.place(products.mvm(x, matrix, name=node), place)
        words = self._words(name, weights, sizes[1], bias=bias)
        if residual is None:
            return self.place(products.mvm_bn(x, matrix, words, arg_max=int(argmax), name=node), place)
        return self.place(
            products.mvm_bn_res(x, matrix, words, residual, res_mul=int(multiply), arg_max=int(argmax), name=node), place
        )

    def norm(self, node: str, x: Node, weight: str, *, kind: str = "", channels: int = 0, place: str = "onchip") -> OperatorCall:
        """Build an RMS or layer norm with the weight's gamma (and beta). kind, channels: default the model's."""
        c = self.config
        layer, channels = (kind or c.norm) == "layer", channels or c.channels

        def make(read: Read) -> np.ndarray:
            gamma = read(f"{weight}.gamma")
            return np.stack([gamma, read(f"{weight}.beta") if layer else np.zeros(channels)])

        words = self._constant(weight, (2, channels), make)
        operator = pointwise.layer_norm if layer else pointwise.rms_norm
        return self.place(operator(x, words, eps=c.norm_eps, name=node), place)

    def activate(self, node: str, x: Node) -> OperatorCall:
        """Build the activation of the feed-forward part; the compiler supplies the device's table for it."""
        squared = self.config.activation == "relu2"
        function = "relu" if squared else self.config.activation
        table = self._constants.setdefault(f"table.{function}", products.const_ddr(f"table.{function}", None, (3, 16)))
        made = self.place(pointwise.activate(x, table, function=function, name=node), "onchip")
        return self.place(pointwise.mul(made, made, name=f"{node}.square"), "onchip") if squared else made

    def rope(self, node: str, x: Node, rope: Rope) -> OperatorCall:
        """Rotate adjacent pairs of every head by the token's position."""
        config, positions = self.config, self.options.positions
        shape = (2, positions, config.head_channels // 2)
        number = config.ropes.index(rope) if config.ropes else 0
        name = f"rotary{number}" if number else "rotary"
        if name not in self._constants:
            self._constants[name] = products.const_ddr(name, lambda: rotary_table(config, rope, positions), shape)
        return attention.pos_emb(x, self._constants[name], name=node)

    def heads(self, x: Node, heads: int) -> OperatorCall:
        """View (1, token, heads * D) as (heads, token, D)."""
        return views.reshape(x, (heads, self.token, self.config.head_channels))

    def split(self, x: Node, axis: int, sizes: Sequence[int]) -> tuple[Node, ...]:
        """Split a tensor into views."""
        whole = views.split(x, axis, tuple(sizes))
        return tuple(whole[i] for i in range(len(sizes)))

    # ---- parts of a block

    def queries_keys_values(self, block: str, x: Node, rope: Rope | None) -> tuple[Node, Node, Node]:
        """Return q, k and v as (heads, token, D); q and k are normalised and rotated as in the model."""
        c, o = self.config, self.options
        h, kv = c.heads, c.kv_heads
        counts = {"q": h, "k": kv, "v": kv}
        if o.fuse_qkv:
            names = [f"{block}.attention.{n}" for n in "qkv"]
            sizes = (c.channels, c.query_channels + 2 * c.kv_channels)
            whole = self.linear(f"{block}.qkv", x, names, sizes, bias=c.qkv_bias, place="runtime")
            if c.qk_norm == "all":
                parts = self.split(whole, 2, [c.query_channels, c.kv_channels, c.kv_channels])
                q, k, v = self._normalised_heads(block, dict(zip("qkv", parts, strict=True)), counts)
            else:
                heads = self.heads(whole, h + 2 * kv)
                if rope is not None and o.join_rope and not c.qk_norm:
                    qk, v = self.split(heads, 0, [h + kv, kv])
                    q, k = self.split(self.rope(f"{block}.rope", qk, rope), 0, [h, kv])
                    return q, k, v
                q, k, v = self.split(heads, 0, [h, kv, kv])
        else:
            parts = {
                n: self.linear(
                    f"{block}.w{n}", x, [f"{block}.attention.{n}"], (c.channels, heads * c.head_channels), bias=c.qkv_bias,
                    place="runtime",
                )
                for n, heads in counts.items()
            }  # fmt: skip
            q, k, v = self._normalised_heads(block, parts, counts)
        if c.qk_norm == "head":
            q, k = (self._qk_norm(block, n, y, c.head_channels) for n, y in (("q", q), ("k", k)))
        if rope is not None:
            q, k = self.rope(f"{block}.rope_q", q, rope), self.rope(f"{block}.rope_k", k, rope)
        return q, k, v

    def _normalised_heads(self, block: str, parts: Mapping[str, Node], counts: Mapping[str, int]) -> Iterator[Node]:
        """Yield q, k and v (1, token, channels) as heads, q and k after a norm over all their heads if the model has one."""
        for n, y in parts.items():
            channels = counts[n] * self.config.head_channels
            normalised = n != "v" and self.config.qk_norm == "all"
            yield self.heads(self._qk_norm(block, n, y, channels) if normalised else y, counts[n])

    def _qk_norm(self, block: str, n: str, x: Node, channels: int) -> OperatorCall:
        """Build the RMS norm of queries or keys. n: "q" or "k"."""
        return self.norm(f"{block}.{n}_norm", x, f"{block}.attention.{n}_norm", kind="rms", channels=channels, place="runtime")

    def attention(self, block: str, x: Node, rope: Rope | None) -> Node:
        """Return the attention's result, (1, token, heads * D), from the cache."""
        c = self.config
        q, k, v = self.queries_keys_values(block, x, rope)
        keys = attention.dat_hbm(k, 1, name=f"{block}.cache_k")
        scores = self.place(attention.trp_mvm(q, keys, name=f"{block}.scores"), "onchip")
        probabilities = self.place(attention.softmax(scores, name=f"{block}.softmax"), "onchip")
        values = attention.dat_hbm(v, 0, name=f"{block}.cache_v")
        mixed = self.place(attention.f2w_mvm(probabilities, values, name=f"{block}.mix"), "onchip")
        return views.reshape(mixed, (1, self.token, c.query_channels))

    def added(
        self, node: str, x: Node, weight: str, sizes: tuple[int, int], residual: Node, after: str, *, bias: bool, place: str
    ) -> Node:
        """Build residual + x @ w (+ bias), with the product normalised first if the model does so; after: name of that norm."""
        if self.config.norm_place == "before":
            return self.linear(node, x, [weight], sizes, bias=bias, residual=residual, place=place)
        made = self.norm(after, self.linear(node, x, [weight], sizes, bias=bias), after)
        return self.place(pointwise.add(residual, made, name=f"{after}.add"), place)

    def feed_forward(self, block: str, x: Node, residual: Node, *, place: str) -> Node:
        """Build the gated or plain feed-forward part and add the residual."""
        c = self.config
        ffn, bias = f"{block}.ffn", self.config.ffn_bias
        inner, activated = (c.channels, c.ffn), f"{block}.{c.activation.removesuffix('_tanh')}"
        if c.gated:
            gate = self.activate(activated, self.linear(f"{block}.gate", x, [f"{ffn}.gate"], inner, bias=bias))
            hidden = self.linear(f"{block}.up", x, [f"{ffn}.up"], inner, bias=bias, residual=gate, multiply=True)
        else:
            up = self.linear(f"{block}.up", x, [f"{ffn}.up"], inner, bias=bias)
            hidden = self.activate(activated, up)
        sizes = (c.ffn, c.channels)
        return self.added(f"{block}.down", hidden, f"{ffn}.down", sizes, residual, f"{block}.norm2_after", bias=bias, place=place)

    def block(self, index: int, x: Node, *, place: str) -> Node:
        """Build one transformer block. place: of its result."""
        c, name = self.config, f"blocks.{index}"
        before = c.norm_place != "after"
        y = self.norm(f"{name}.norm1", x, f"{name}.norm1") if before else x
        mixed = self.attention(name, y, c.rope_of(index))
        sizes = (c.query_channels, c.channels)
        middle = self.added(
            f"{name}.wo", mixed, f"{name}.attention.o", sizes, x, f"{name}.norm1_after", bias=c.o_bias, place="onchip"
        )
        if c.parallel != "one":
            read = x if c.parallel else middle
            y = self.norm(f"{name}.norm2", read, f"{name}.norm2") if before else read
        return self.feed_forward(name, y, middle, place=place)

    def input(self) -> VarNode:
        """Return the variable of the embedded tokens."""
        return products.var_ddr("x", (1, self.token, self.config.channels))

    def head(self, x: Node) -> Node:
        """Return the last token's logits (1, 1, vocabulary) with the index of the largest; without a head, the normalised token."""
        c = self.config
        last = self.norm("norm", views.gather(x), "norm", place="runtime" if self.options.host_head else "onchip")
        if self.options.host_head:
            return last
        logits = self.linear("logits", last, ["head"], (c.channels, c.vocabulary), bias=c.head_bias, argmax=True, place="runtime")
        return TupleNode([logits[0], logits[1]])
