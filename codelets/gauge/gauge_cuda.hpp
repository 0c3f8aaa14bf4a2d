#pragma once
// Launches of the kernels that copy borders and make links, on a CUDA worker's stream.
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/gauge/host_links.hpp"
#include "codelets/gauge/smear/ape_site.hpp"
#include "codelets/gauge/smear/smear_kernels.hpp"
#include "runtime/gpu/cuda.hpp"
#include "runtime/graph/binned_sum.hpp"

namespace quarkstar::cuda {

/// links <- host, with the bits of LoadedLinks::write(). The host's are read until the stream has ended.
void launch_load(double* links, const HostGauge& host, const gauge::LoadedLinks& loaded, runtime::CudaStream stream);

/// host <- links, at the times of the block, of which it has all sites; with the bits of StoredLinks::read(). extra: or nullptr. They are
/// there when the stream has ended.
void launch_store(HostGauge& host, const double* links, const double* extra, const gauge::StoredLinks& stored, runtime::CudaStream stream);

/// Enqueues one smearing step on every link of a block; the arguments' pointers are to device memory.
void launch_smear(const smear::SmearArguments& arguments, runtime::CudaStream stream);

/// The same of one step of APE smearing.
void launch_ape(const smear::ApeArguments& arguments, runtime::CudaStream stream);

/// Enqueues site::unitarize_in_place() on every link of a block, in device memory of that shape.
void launch_unitarize(double* links, const gauge::LinkShape& shape, runtime::CudaStream stream);

/// Enqueues the copy of a box of sites with all their links, between device memory of two shapes, as for borders.
void launch_copy(double* to, const double* from, const gauge::BoxCopy& box, runtime::CudaStream stream);

/// sums[0..2] <- gauge::site_sums() over the sites inside the border of a block.
void launch_link_sums(const gauge::LinkShape& shape, const double* links, runtime::BinnedSum* sums, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
