#pragma once
namespace quarkstar::runtime {

/// What one task does, for reports and for schedulers that predict: floating-point operations and compulsory bytes
/// (each operand once; no credit for caches).
struct Cost {
  double flops = 0;
  double bytes = 0;
};

}  // namespace quarkstar::runtime
