"""A description in the formats of other tools: IP-XACT, UVM, C, HTML, SystemVerilog. `formats` is the way in."""
