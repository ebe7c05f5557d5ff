"""MLIR text in, IR out: func, linalg, tensor, arith, math and scf, as `fleet.targets.mlir` writes them and as others do."""
