"""Engines that run kernels of `fleet.targets.gpu` on a device."""
