// passes: cse,dce
func.func @f(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %a = "fleet.exp"(%x) <{id = "a", var = "a"}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = "fleet.exp"(%x) <{id = "b"}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = "fleet.mul"(%a, %b) <{id = "c"}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %d = "fleet.exp"(%b) <{id = "d"}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %c, %d : tensor<2x3xf32>, tensor<2x3xf32>
}

// ----- becomes -----
builtin.module {
  func.func @f(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
    %a = "fleet.exp"(%x) <{id = "a", var = "a"}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %c = "fleet.mul"(%a, %a) <{id = "c"}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %d = "fleet.exp"(%a) <{id = "d"}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    func.return %c, %d : tensor<2x3xf32>, tensor<2x3xf32>
  }
}
