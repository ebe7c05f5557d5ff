// passes: inline
func.func @square(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = "fleet.mul"(%x, %x) <{id = "y"}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}
func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
  %a = func.call @square(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %b = func.call @square(%a) : (tensor<3xf32>) -> tensor<3xf32>
  func.return %b : tensor<3xf32>
}

// ----- becomes -----
builtin.module {
  func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
    %y = "fleet.mul"(%x, %x) <{id = "y"}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %y_1 = "fleet.mul"(%y, %y) <{id = "square2.y"}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    func.return %y_1 : tensor<3xf32>
  }
}
