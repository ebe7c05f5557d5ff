"""Expressions over dynamic dimensions, as the tasks of a graph use them."""

from __future__ import annotations

from fleet.symbols.expr import Expr, Numb, Number, Var, as_expr, dim, minimum, upper

__all__ = ["Expr", "Numb", "Number", "Var", "as_expr", "dim", "minimum", "upper"]
