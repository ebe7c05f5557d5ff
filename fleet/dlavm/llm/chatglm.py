"""ChatGLM2-6B as a graph."""

from fleet.dlavm.llm.published import published

__all__ = ["chatglm_expr_hbm"]

chatglm_expr_hbm = published("chatglm2-6b")
