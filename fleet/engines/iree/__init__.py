"""Engine `iree`: an independent compiler of the MLIR export."""
