"""This machine as a target: the RISC-V target's code, compiled for the processor that fleet runs on."""
