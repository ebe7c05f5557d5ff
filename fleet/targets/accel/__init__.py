"""The accelerator target: legalise, plan memory, emit instructions."""
