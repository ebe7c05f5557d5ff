"""Emulators that run linked RISC-V images, behind one interface (`base.Emulator`)."""
