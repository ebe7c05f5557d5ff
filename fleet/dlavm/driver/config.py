"""dlavm's settings of its test bench. Scripts may assign them without effect, because fleet uses its own simulation."""

tb_sim_path = ""
tb_debug = 0
tb_macro_log: list[object] = []
sim_tool = "verilator"
template_rtl: tuple[str, ...] = ()
