"""RTL simulation: builds an instruction set's hardware inside the bench and runs jobs on it under cocotb.

`tools` finds Verilator and the C++ compiler, `dut` and `build` make the executable (cached), `job` and `records` hold the
file formats of rtl_models/README.md, `process` starts the executable, `worker` is what runs inside it.
"""
