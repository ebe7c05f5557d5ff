"""dlavm's settings of its test bench. Scripts may assign them; fleet brings its own simulation, and none of them changes it."""

tb_sim_path = ""
tb_debug = 0
tb_macro_log: list[object] = []
sim_tool = "verilator"
template_rtl: tuple[str, ...] = ()
