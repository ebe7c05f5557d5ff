// passes: infer-shapes{x=7x4}
func.func @f(%x: tensor<?x4xf32>, %w: tensor<4x3xf32>) -> tensor<?x1xf32> {
  %h = "fleet.matmul"(%x, %w) <{id = "h"}> : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  %m = "fleet.mean"(%h) <{axes = array<i64: 1>, keepdims = true, id = "m"}> : (tensor<?x3xf32>) -> tensor<?x1xf32>
  func.return %m : tensor<?x1xf32>
}

// ----- becomes -----
builtin.module {
  func.func @f(%x: tensor<7x4xf32>, %w: tensor<4x3xf32>) -> tensor<7x1xf32> {
    %h = "fleet.matmul"(%x, %w) <{id = "h"}> : (tensor<7x4xf32>, tensor<4x3xf32>) -> tensor<7x3xf32>
    %m = "fleet.mean"(%h) <{axes = array<i64: 1>, keepdims = true, id = "m"}> : (tensor<7x3xf32>) -> tensor<7x1xf32>
    func.return %m : tensor<7x1xf32>
  }
}
