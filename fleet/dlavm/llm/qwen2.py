"""Qwen2-7B as a graph."""

from fleet.dlavm.llm.published import published

__all__ = ["qwen2_expr_hbm"]

qwen2_expr_hbm = published("qwen2-7b")
