"""The instruction-set plug-in contract, descriptions, codec and functional models."""
