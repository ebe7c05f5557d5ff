"""Sweeps over the parameters of a device: what each choice would cost and lose, and which choices are worth building."""
