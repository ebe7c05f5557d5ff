"""Working templates: a workspace, an instruction set, one more instruction. The texts are the files under fleet/isa/templates."""
