// passes: raise-attention,dce
func.func @f(%q: tensor<5x8xf32>, %k: tensor<5x8xf32>, %v: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %q0 = "fleet.slice"(%q) <{start = array<i64: 0, 0>, size = array<i64: 5, 4>, id = "q0"}> : (tensor<5x8xf32>) -> tensor<5x4xf32>
  %q1 = "fleet.slice"(%q) <{start = array<i64: 0, 4>, size = array<i64: 5, 4>, id = "q1"}> : (tensor<5x8xf32>) -> tensor<5x4xf32>
  %k0 = "fleet.slice"(%k) <{start = array<i64: 0, 0>, size = array<i64: 5, 4>, id = "k0"}> : (tensor<5x8xf32>) -> tensor<5x4xf32>
  %k1 = "fleet.slice"(%k) <{start = array<i64: 0, 4>, size = array<i64: 5, 4>, id = "k1"}> : (tensor<5x8xf32>) -> tensor<5x4xf32>
  %v0 = "fleet.slice"(%v) <{start = array<i64: 0, 0>, size = array<i64: 5, 4>, id = "v0"}> : (tensor<5x8xf32>) -> tensor<5x4xf32>
  %v1 = "fleet.slice"(%v) <{start = array<i64: 0, 4>, size = array<i64: 5, 4>, id = "v1"}> : (tensor<5x8xf32>) -> tensor<5x4xf32>
  %half = "fleet.constant"() <{value = 0.5 : f32, id = "half"}> : () -> f32
  %s0 = "fleet.einsum"(%q0, %k0) <{subscripts = "id,jd->ij", id = "s0"}> : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x5xf32>
  %t0 = "fleet.mul"(%s0, %half) <{id = "t0"}> : (tensor<5x5xf32>, f32) -> tensor<5x5xf32>
  %p0 = "fleet.softmax"(%t0) <{axis = 1 : i64, id = "p0"}> : (tensor<5x5xf32>) -> tensor<5x5xf32>
  %h0 = "fleet.matmul"(%p0, %v0) <{id = "h0"}> : (tensor<5x5xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  %kt = "fleet.transpose"(%k1) <{permutation = array<i64: 1, 0>, id = "kt"}> : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %s1 = "fleet.matmul"(%q1, %kt) <{id = "s1"}> : (tensor<5x4xf32>, tensor<4x5xf32>) -> tensor<5x5xf32>
  %t1 = "fleet.mul"(%half, %s1) <{id = "t1"}> : (f32, tensor<5x5xf32>) -> tensor<5x5xf32>
  %p1 = "fleet.softmax"(%t1) <{axis = 1 : i64, id = "p1"}> : (tensor<5x5xf32>) -> tensor<5x5xf32>
  %h1 = "fleet.matmul"(%p1, %v1) <{id = "h1"}> : (tensor<5x5xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  %o = "fleet.concat"(%h0, %h1) <{axis = 1 : i64, id = "o"}> : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x8xf32>
  func.return %o : tensor<5x8xf32>
}

// ----- becomes -----
builtin.module {
  func.func @f(%q: tensor<5x8xf32>, %k: tensor<5x8xf32>, %v: tensor<5x8xf32>) -> tensor<5x8xf32> {
    %o = "fleet.attention"(%q, %k, %v) <{heads = 2 : i64, kv_heads = 2 : i64, scale = 5.000000e-01 : f64, causal = false, id = "o", covers = ["q0", "q1", "k0", "k1", "v0", "v1", "s0", "t0", "p0", "h0", "kt", "s1", "t1", "p1", "h1", "o"]}> : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
    func.return %o : tensor<5x8xf32>
  }
}
