// passes: raise-activation
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = "fleet.constant"() <{value = 0.70710678 : f32, id = "r"}> : () -> f32
  %one = "fleet.constant"() <{value = 1.0 : f32, id = "one"}> : () -> f32
  %half = "fleet.constant"() <{value = 0.5 : f32, id = "half"}> : () -> f32
  %wrong = "fleet.constant"() <{value = 0.51 : f32, id = "wrong"}> : () -> f32
  %a = "fleet.mul"(%x, %r) <{id = "a"}> : (tensor<4xf32>, f32) -> tensor<4xf32>
  %b = "fleet.erf"(%a) <{id = "b"}> : (tensor<4xf32>) -> tensor<4xf32>
  %c = "fleet.add"(%one, %b) <{id = "c"}> : (f32, tensor<4xf32>) -> tensor<4xf32>
  %d = "fleet.mul"(%half, %x) <{id = "d"}> : (f32, tensor<4xf32>) -> tensor<4xf32>
  %e = "fleet.mul"(%d, %c) <{id = "e"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %f = "fleet.mul"(%wrong, %x) <{id = "f"}> : (f32, tensor<4xf32>) -> tensor<4xf32>
  %g = "fleet.mul"(%f, %c) <{id = "g"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h = "fleet.sub"(%e, %g) <{id = "h"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %h : tensor<4xf32>
}

// ----- becomes -----
builtin.module {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %r = "fleet.constant"() <{value = 0.707106769 : f32, id = "r"}> : () -> f32
    %one = "fleet.constant"() <{value = 1.000000e+00 : f32, id = "one"}> : () -> f32
    %wrong = "fleet.constant"() <{value = 5.100000e-01 : f32, id = "wrong"}> : () -> f32
    %a = "fleet.mul"(%x, %r) <{id = "a"}> : (tensor<4xf32>, f32) -> tensor<4xf32>
    %b = "fleet.erf"(%a) <{id = "b"}> : (tensor<4xf32>) -> tensor<4xf32>
    %c = "fleet.add"(%one, %b) <{id = "c"}> : (f32, tensor<4xf32>) -> tensor<4xf32>
    %e = "fleet.gelu"(%x) <{approximate = "erf", id = "e", covers = ["d", "e"]}> : (tensor<4xf32>) -> tensor<4xf32>
    %f = "fleet.mul"(%wrong, %x) <{id = "f"}> : (f32, tensor<4xf32>) -> tensor<4xf32>
    %g = "fleet.mul"(%f, %c) <{id = "g"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h = "fleet.sub"(%e, %g) <{id = "h"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    func.return %h : tensor<4xf32>
  }
}
