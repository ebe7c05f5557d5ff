"""The languages of GPU kernels: how OpenCL C and CUDA C++ spell types, functions, threads and memory.

Both are C for the body of a kernel. Integers are stored with signs; what is computed modulo 2**n or without a sign is cast.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

_OPENCL_TYPES = {"i1": "bool", "i8": "char", "i16": "short", "i32": "int", "i64": "long", "float": "float", "double": "double"}
_CUDA_TYPES = _OPENCL_TYPES | {"i8": "signed char", "i64": "long long"}
_SHARED_FUNCTIONS = {
    "fabs": "fabs", "sqrt": "sqrt", "copysign": "copysign", "maxnum": "fmax", "minnum": "fmin", "floor": "floor", "ceil": "ceil",
    "roundeven": "rint", "fma": "fma",
}  # fmt: skip
"""LLVM's intrinsic -> the function of both languages; CUDA's for float32 end in f."""


@dataclass(frozen=True)
class Surface:
    """One language.

    Attributes:
        name: "opencl" or "cuda".
        types: LLVM's type -> the language's, of values in registers and of elements in memory.
        unsigned: the same without sign.
        long_suffix: of 64-bit literals.
        single_suffix: of functions on float32.
        bits: (LLVM's type, its type as bits or back) -> the function that reinterprets.
        kernel: the head of a kernel, with {local}, {name} and {parameters}; {busy} is `busy` if its items wait for each other.
        busy: words that ask for registers for two groups of a kernel at the same time.
        memory: a word before the type of a pointer to memory, or "".
        restrict: the word that says that a pointer has no alias.
        shared: a declaration of memory that a group shares, with {type}, {name}, {count} and {align}, in bytes.
        item, group, inside: expressions of a work item's number, its group's and its place in the group.
        barrier: the statement where a group's items wait for each other.
        least: a function that makes a number in memory the smaller of two, and returns the one before.
        head: before the kernels; double: also before kernels that compute in float64.
        how: how the text is compiled so that its bits are the golden's, a comment.
        any: a function at which a group's items wait for each other; it is true if one of them says so. Without it an item computes
            a row alone.
        exact: whether division and square root of float32 are correctly rounded; else they are computed in float64.
    """

    name: str
    types: Mapping[str, str]
    unsigned: Mapping[str, str]
    long_suffix: str
    single_suffix: str
    bits: Mapping[tuple[str, str], str]
    kernel: str
    busy: str
    memory: str
    restrict: str
    shared: str
    item: str
    group: str
    inside: str
    barrier: str
    least: str
    head: str
    double: str
    how: str
    any: str = ""
    exact: bool = True

    def function(self, name: str, type_: str) -> str:
        """Return the name of an intrinsic's function for a type. Raises KeyError if there is none."""
        return _SHARED_FUNCTIONS[name] + (self.single_suffix if type_ == "float" else "")


OPENCL = Surface(
    name="opencl",
    types=_OPENCL_TYPES,
    unsigned={"i8": "uchar", "i16": "ushort", "i32": "uint", "i64": "ulong"},
    long_suffix="L",
    single_suffix="",
    bits={
        ("float", "i32"): "as_int",
        ("i32", "float"): "as_float",
        ("double", "i64"): "as_long",
        ("i64", "double"): "as_double",
    },
    kernel="__kernel __attribute__((reqd_work_group_size({local}, 1, 1)))\nvoid {name}({parameters})",
    busy="",
    memory="__global ",
    restrict="restrict",
    shared="__local {type} {name}[{count}] __attribute__((aligned({align})));",
    item="get_global_id(0)",
    group="get_group_id(0)",
    inside="get_local_id(0)",
    barrier="barrier(CLK_LOCAL_MEM_FENCE);",
    least="atomic_min",
    head="#pragma OPENCL FP_CONTRACT OFF\n",
    double="#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
    how="build with -cl-fp32-correctly-rounded-divide-sqrt",
)
CUDA = Surface(
    name="cuda",
    types=_CUDA_TYPES,
    unsigned={"i8": "unsigned char", "i16": "unsigned short", "i32": "unsigned int", "i64": "unsigned long long"},
    long_suffix="LL",
    single_suffix="f",
    bits={
        ("float", "i32"): "__float_as_int",
        ("i32", "float"): "__int_as_float",
        ("double", "i64"): "__double_as_longlong",
        ("i64", "double"): "__longlong_as_double",
    },
    kernel='extern "C" __global__ void __launch_bounds__({local}{busy}) {name}({parameters})',
    busy=", 2",
    memory="",
    restrict="__restrict__",
    shared="__shared__ __align__({align}) {type} {name}[{count}];",
    item="blockIdx.x * blockDim.x + threadIdx.x",
    group="blockIdx.x",
    inside="threadIdx.x",
    barrier="__syncthreads();",
    least="atomicMin",
    head="",
    double="",
    how="compile with --fmad=false",
    any="__syncthreads_or",
)
SURFACES: Mapping[str, Surface] = {s.name: s for s in (OPENCL, CUDA)}


def approximate(surface: Surface) -> Surface:
    """Return the language for a device whose float32 division and square root are not correctly rounded."""
    return replace(surface, exact=False)
