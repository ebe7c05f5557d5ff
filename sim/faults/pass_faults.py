"""Faults in the passes that keep every bit: an attribute, a dtype or a place that one of them overlooks."""

from __future__ import annotations

from planting import Edit, Fault

_PASSES = "fleet/transforms"
_CANONICALISE, _EDIT = f"{_PASSES}/simplify/canonicalise.py", f"{_PASSES}/edit.py"
_KEPT = "tests/transforms/test_attributes_kept.py"


def _fault(name: str, what: str, test: str, edit: Edit, file: str = _KEPT, *, nightly: bool = True) -> Fault:
    return Fault(
        name, what, ("pytest", "-q", "-p", "no:cacheprovider", file), f"FAILED {file}", (test,), (edit,),
        at=test, kind="compiler", nightly=nightly,
    )  # fmt: skip


FAULTS = (
    _fault(
        "pass-cse-attributes", "cse: attributes are no part of what makes two operations the same", "test_what_differs_is_not_one",
        Edit(f"{_PASSES}/simplify/cse.py", "tuple(r.type for r in op.results), attributes", "tuple(r.type for r in op.results)"),
        "tests/transforms/test_cse_attributes.py", nightly=False,
    ),
    _fault(
        "pass-constants-type", "canonicalise: constants of one number are one, whatever their shapes",
        "test_constants_of_one_number_and_different_types_stay",
        Edit(_CANONICALISE, 'key = (op.properties["value"], op.result.type)', 'key = (op.properties["value"], op.name)'),
    ),
    _fault(
        "pass-concat-step", "canonicalise: slices with a step count as a whole when their sizes add up",
        "test_what_an_attribute_says_counts",
        Edit(_CANONICALISE, 'if -1 in shape or set(a.get("step") or [1]) != {1}:', "if -1 in shape:"),
    ),
    _fault(
        "pass-slice-drops-step", "canonicalise: a slice of a slice has no step", "test_what_an_attribute_says_counts",
        Edit(_CANONICALISE, 'steps = {} if set(step) == {1} else {"step": step}', "steps = {}"),
    ),
    _fault(
        "pass-minus-negative-zero", "canonicalise: x - -0.0 is taken for x", "test_what_an_attribute_says_counts",
        Edit(
            _CANONICALISE, '_is(rhs, 0, "i") or _is(rhs, 0, "f") else None',
            '_is(rhs, 0, "i") or _is(rhs, 0, "f") or _is(rhs, 0, "f", negative_zero=True) else None',
        ),
    ),
    _fault(
        "pass-loses-line", "canonicalise: a new operation forgets the line of the source that it stands for",
        "test_who_takes_an_operation_s_place_takes_its_name_and_its_line",
        Edit(_CANONICALISE, 'var=text_of(op, "var"), at=text_of(op, "at"))', 'var=text_of(op, "var"))'),
    ),
    _fault(
        "pass-variable-goes", "canonicalise: an operation that a variable is bound to goes too",
        "test_what_a_variable_is_bound_to_stays_with_its_variable_and_line",
        Edit(_CANONICALISE, 'if text_of(op, "var") is not None or not op.results:', "if not op.results:"),
    ),
    _fault(
        "pass-fold-axes", "fold-constants: a reduction goes along all axes", "test_a_folded_number_is_that_of_its_attributes",
        Edit(
            "fleet/ir/operations/operation.py", '(operands[0], axis=tuple(attributes["axes"]), keepdims=attributes["keepdims"])',
            "(operands[0])",
        ),
    ),
    _fault(
        "pass-fold-cast", "fold-constants: a number that is cast keeps its old precision",
        "test_a_number_that_is_cast_is_rounded",
        Edit(f"{_PASSES}/simplify/numbers.py", "return lambda x: numpy_dtype(type_).type(x).item()", "return lambda x: x"),
    ),
    _fault(
        "pass-fold-ends", "fold-constants: an array whose ends agree is taken for one number",
        "test_ends_that_agree_are_not_all_elements",
        Edit(
            f"{_PASSES}/simplify/fold_constants.py", "if value.tobytes() != first.tobytes() * value.size:",
            "if value.reshape(-1)[-1:].tobytes() != first.tobytes():",
        ),
    ),
    _fault(
        "pass-fold-identity", "fold-constants: a folded operation loses variable and line",
        "test_what_a_variable_is_bound_to_stays_with_its_variable_and_line",
        Edit(f"{_PASSES}/simplify/fold_constants.py", "folded.describe(**identity(op))", "folded.describe(id=op_id(op))"),
    ),
    _fault(
        "pass-copies-kept", "expand-functions: a copy for NumPy's memory keeps a target's patterns apart",
        "test_a_copy_for_numpys_memory_does_not_keep_attention_apart",
        Edit(f"{_PASSES}/simplify/expand_functions.py", '.function == "copy":', '.function == "copied":'),
        "tests/transforms/test_expand_functions.py",
    ),
    _fault(
        "pass-attention-sequences", "raise-attention: the axes of sequences and of heads are exchanged",
        "test_sequences_of_heads",
        Edit(
            f"{_PASSES}/raising/products.py", "    sequences, heads = [None, None, *lead][-2:]",
            "    heads, sequences = [None, None, *lead][-2:]",
        ),
        "tests/transforms/test_raise_sequences.py",
    ),
    _fault(
        "pass-attention-merged", "raise-attention: an axis that a reshape has merged is split with the strides of its inner part",
        "test_sequences_of_heads",
        Edit(
            f"{_PASSES}/raising/views.py", "axis.append((taken, stride * (size // taken)))", "axis.append((taken, stride))",
        ),
        "tests/transforms/test_raise_sequences.py",
    ),
    _fault(
        "pass-quantile-place", "expand-functions: a quantile at an element's own place is that element, beside an infinity too",
        "test_quantiles_beside_an_infinity_are_numpys",
        Edit("fleet/ir/library/reductions.py", 'between = method in ("linear", "midpoint")', "between = False"),
        "tests/transforms/test_expand_functions.py",
    ),
    _fault(
        "pass-dce-print", "dce: a print, which has no result, counts as not used",
        "test_what_is_printed_stays_and_what_is_not_used_goes",
        Edit(
            _EDIT, "if not has_effects(op) and not any(r.uses for r in op.results):\n                gone",
            "if not any(r.uses for r in op.results):\n                gone",
        ),
    ),
    _fault(
        "pass-dce-twin", "dce: of an operation that another serves it is said that it is not needed",
        "test_what_a_variable_is_bound_to_stays_with_its_variable_and_line",
        Edit(_EDIT, "twin = self._twins.get(op_id(op))", "twin = None"),
    ),
)  # fmt: skip
