"""Llama-2-7B as a graph."""

from fleet.dlavm.llm.published import published

__all__ = ["llama_expr_hbm"]

llama_expr_hbm = published("llama2-7b")
