#include "codelets/stencil/stencil.hpp"

#include "codelets/lattice/placement.hpp"
#include "codelets/stencil/halo_tasks.hpp"
#include "codelets/stencil/run.hpp"
#include "runtime/system/error.hpp"

#include <algorithm>
#include <string>

namespace quarkstar::stencil {

using runtime::AccessList;

namespace {

std::ptrdiff_t site_fields_of(const Output& output) {
  const auto& fields = output.epilogue.fields;
  return std::find(fields.begin(), fields.end(), nullptr) - fields.begin();
}

void add_epilogue_fields(AccessList& accesses, const Output& output, int block) {
  for (const SiteField* field : output.epilogue.fields)
    if (field != nullptr) accesses.push_back(runtime::in(field->block(block)));
}

}  // namespace

struct Stencil::Submission {
  const Output& output;
  int sign;
  runtime::Guard guard;
};

Stencil::Stencil(LatticePointer lattice, const Kind& kind, int vectors, const Launch& launch)
    : lattice_(std::move(lattice)),
      kind_(kind),
      vectors_(vectors),
      launch_(launch),
      faces_(make_faces(*lattice_, kind.face.bytes(lattice_->precision()) * static_cast<std::size_t>(vectors), kind.name)),
      sums_(parts_of(*lattice_) * static_cast<int>(lattice_->local_blocks().size()), 3 * vectors,
            lattice_->decomposition().is_distributed()) {}

/// Of `fields` fields, and the matrices per site of an epilogue.
double Stencil::bytes_per_site(double fields, const Output& output) const {
  double bytes = vectors_ * fields * static_cast<double>(site_bytes(lattice_->precision(), 2 * kind_.components));
  for (const SiteField* field : output.epilogue.fields)
    if (field != nullptr) bytes += static_cast<double>(field->bytes_per_site());
  return bytes;
}

/// Per site and vector.
double Stencil::epilogue_flops(const Output& output) const {
  return kind_.epilogue_flops * static_cast<double>(std::max<std::ptrdiff_t>(1, site_fields_of(output)));
}

runtime::Cost Stencil::cost(std::int64_t outer_sites, const Output& output) const {
  const double sites = static_cast<double>(outer_sites) * lattice_->lanes().lanes, reals = 2 * kind_.components;
  const Field* beside = output.epilogue.mixing.beside;
  const double fields = 2.0 + (output.x != nullptr ? 1 : 0) + (beside != nullptr ? 1 : 0) +
                        (output.y != nullptr && output.y != output.x && output.y != beside ? 1 : 0);
  const double hops = output.forward_along < 0 ? 1 : 1.0 / 8;
  double flops = hops * kind_.flops + (output.epilogue.form != 0 ? epilogue_flops(output) : 0) + output.epilogue.mixing.flops;
  if (output.x != nullptr) flops += 3 * reals;
  flops += 2 * reals * output.sums.count(1);
  return {sites * flops * vectors_, sites * (hops * kind_.link_bytes + bytes_per_site(fields, output))};
}

double Stencil::core_bytes(std::int64_t outer_sites, const Output& output) const {
  const double sites = static_cast<double>(outer_sites) * lattice_->lanes().lanes;
  const int again = output.forward_along < 0 ? kind_.neighbours - 1 : 0;
  return cost(outer_sites, output).bytes +
         sites * again * vectors_ * static_cast<double>(site_bytes(lattice_->precision(), 2 * kind_.components));
}

/// What has to be true of everything but the field that hops go out from.
void Stencil::check(const std::string& where, const Field& out, const Output& output) const {
  const MixingOptions& mixing = output.epilogue.mixing;
  for (const Field* field : {&out, output.x, output.y, mixing.beside}) {
    if (field == nullptr) continue;
    if (field->lattice() != lattice_ || field->components() != kind_.components)
      throw ShapeError(where, "fields of another lattice or kind");
    if (field->site_vectors() != vectors_) throw ShapeError(where, "a field with another number of vectors");
    if (field->parity() != out.parity()) throw ShapeError(where, "x and y must have the parity of the result");
  }
  if (mixing.numbers != nullptr &&
      (mixing_codelet(false) == nullptr || mixing.right_hand_sides < 1 || vectors_ % mixing.right_hand_sides != 0))
    throw ShapeError(where, "an epilogue that mixes vectors, of an operator without one or of a part of a right-hand side");
  if (output.forward_along >= 0 && (!kind_.single_hops || lattice_->precision() == Precision::half || lattice_->vectors_in_lanes() > 1 ||
                                    output.x != nullptr || output.sums.count(1) > 0 || output.epilogue.form != 0))
    throw ShapeError(where, "hops of one direction with x, sums or a term, in half precision or lanes, or of an operator without them");
  if (output.x == &out || mixing.beside == &out) throw ShapeError(where, "out = diagonal out + scale D in would read what it overwrites");
  if (output.sums.dot && output.y == nullptr) throw ShapeError(where, "a dot product without its left factor");
  if (output.sums.imaginary && !(output.sums.dot && kind_.complex_dot)) throw ShapeError(where, "no imaginary part of a dot product");
  if (output.epilogue.form != 0 && epilogue_codelet() == nullptr) throw ShapeError(where, "options of an epilogue that is linear");
  for (const SiteField* field : output.epilogue.fields)
    if (field != nullptr && (field->lattice() != lattice_ || field->parity() != out.parity()))
      throw ShapeError(where, "a site field of another lattice or parity");
}

void Stencil::describe_epilogue(SitesTask& task, const Output& output) const {
  const MixingOptions& mixing = output.epilogue.mixing;
  task.vectors = vectors_;
  task.mixes = mixing.numbers != nullptr;
  task.right_hand_sides = task.mixes ? mixing.right_hand_sides : vectors_;
  std::copy(mixing.terms.begin(), mixing.terms.end(), task.terms);
  task.of_hops = mixing.of_hops;
  task.has_beside = mixing.beside != nullptr;
  // With slices in lanes those of a right-hand side follow each other.
  const int n = lattice_->slices_in_lanes() ? vectors_ / lattice_->slices() : 1;
  for (int v = 0; v < vectors_; ++v) {
    const auto to = static_cast<std::size_t>(v % n * (vectors_ / n) + v / n), from = static_cast<std::size_t>(v);
    task.diagonal[to] = output.diagonal[from];
    task.scale[to] = output.scale[from];
  }
  task.numbers = output.epilogue.numbers;
  task.form = output.epilogue.form;
  task.site_fields = static_cast<int>(site_fields_of(output));
}

void Stencil::apply(const Field& out, const Field& in, const Output& output, bool adjoint, const runtime::Guard& guard) {
  const std::string where = std::string(kind_.name) + "::apply";
  check(where, out, output);
  if (in.lattice() != lattice_ || in.components() != kind_.components) throw ShapeError(where, "fields of another lattice or kind");
  if (in.site_vectors() != vectors_) throw ShapeError(where, "a field with another number of vectors");
  if (out.parity() == in.parity()) throw ShapeError(where, "D leads to the other parity");
  const Submission submission{output, adjoint ? -1 : 1, guard};
  submit_with_faces(
      *lattice_, faces_, [&](int b) { submit_pack(b, in, submission); },
      [&](int b, bool boundary) { submit_sites(b, boundary, out, in, submission); });
}

void Stencil::apply_epilogue(const Field& out, const Output& output, const runtime::Guard& guard) {
  const std::string where = std::string(kind_.name) + "::apply_epilogue";
  check(where, out, output);
  if (epilogue_codelet() == nullptr || output.x == nullptr || output.sums.count(1) > 0)
    throw ShapeError(where, "an epilogue that is linear, without x, or with sums");
  for (const int b : lattice_->local_blocks()) {
    auto task = runtime::blank<SitesTask>();
    task.count = static_cast<std::uint32_t>(lattice_->block(b).outer_sites());
    task.has_x = true;
    task.choice.lanes = lattice_->lanes().lanes;
    task.choice.sign = 1;
    task.choice.vectors_in_lanes = lattice_->vectors_in_lanes();
    task.choice.chunked = lattice_->chunked();
    task.choice.forward_along = -1;
    describe_epilogue(task, output);
    runtime::AccessList accesses{guard.keeps ? runtime::inout(out.block(b)) : runtime::out(out.block(b)), runtime::in(output.x->block(b))};
    add_epilogue_fields(accesses, output, b);
    task.has_state = guard.state != nullptr;
    task.obedience.masked = guard.masked;
    task.obedience.when = guard.when;
    if (task.has_state) accesses.push_back(runtime::in(*guard.state));
    const double sites = static_cast<double>(task.count) * task.choice.lanes;
    runtime::submit(*epilogue_codelet(), task, accesses, {sites * epilogue_flops(output) * vectors_, sites * bytes_per_site(2, output)},
                    placement_of(lattice_->block(b), runtime::role_of(guard.when)));
  }
}

void Stencil::submit_pack(int b, const Field& in, const Submission& submission) {
  const BlockGeometry& geometry = lattice_->block(b);
  auto task = runtime::blank<PackTask>();
  task.lanes = in.width();
  task.vectors = in.groups();
  task.sign = submission.sign;
  task.chunked = lattice_->chunked();
  AccessList accesses{runtime::in(geometry.handle()), runtime::in(in.block(b))};
  double bytes = 0;
  for (int d = 0; d < 8; ++d) {
    if (!geometry.is_cut(d / 2)) continue;
    const TableRange sites = geometry.pack(in.parity(), d);
    task.face[task.faces++] = {d, geometry.lanes().stride[d / 2], sites.offset, sites.count, faces_.is_far(b, d) ? 1 : 0};
    accesses.push_back(runtime::out(faces_.outgoing(b, d)));
    const std::size_t read = site_bytes(lattice_->precision(), in.reals()), written = kind_.face.bytes(lattice_->precision());
    bytes += static_cast<double>(vectors_) * sites.count * geometry.face_lanes(d) * static_cast<double>(read + written);
  }
  task.has_state = submission.guard.state != nullptr;
  task.when = submission.guard.when;
  if (task.has_state) accesses.push_back(runtime::in(*submission.guard.state));
  runtime::submit(pack_codelet(), task, accesses, {0, bytes},
                  {.owner = geometry.block().owner, .block = b, .urgent = true, .role = role_of(submission.guard.when)});
}

void Stencil::submit_sites(int b, bool boundary, const Field& out, const Field& in, const Submission& submission) {
  const BlockGeometry& geometry = lattice_->block(b);
  const int parity = out.parity();
  const TableRange list = boundary ? geometry.boundary(parity) : geometry.interior(parity);
  const Output& output = submission.output;
  auto task = runtime::blank<SitesTask>();
  task.choice.lanes = lattice_->lanes().lanes;
  task.choice.sign = submission.sign;
  task.choice.launch.block_threads = launch_.block_threads;
  task.choice.launch.vectors_a_thread = launch_.vectors_a_thread;
  task.choice.launch.memory.prefetch = launch_.memory.prefetch;
  task.choice.launch.memory.stores = launch_.memory.stores;
  task.choice.vectors_in_lanes = lattice_->vectors_in_lanes();
  task.choice.chunked = lattice_->chunked();
  task.choice.forward_along = output.forward_along;
  task.near = geometry.neighbours(parity);
  task.far = geometry.far_neighbours(parity);
  const bool listed = geometry.has_faces() && list.first < 0;
  task.sites = listed ? list.offset : every_site;
  task.first = listed || !geometry.has_faces() ? 0 : list.first;
  task.near_at = geometry.boundary_faces(parity);
  task.far_at = geometry.far_boundary_faces(parity);
  task.count = list.count;
  describe_epilogue(task, output);
  for (int d = 0; d < 8; ++d) task.face_buffer[d] = -1;
  for (int mu = 0; mu < 4; ++mu) task.stride[mu] = geometry.lanes().stride[mu];
  task.sums.norm = output.sums.norm;
  task.sums.dot = output.sums.dot;
  task.sums.imaginary = output.sums.imaginary;
  task.has_x = output.x != nullptr;
  task.has_y = output.sums.dot;
  task.has_state = submission.guard.state != nullptr;
  task.obedience.masked = submission.guard.masked;
  task.obedience.when = submission.guard.when;
  complete(task, parity);

  const auto link_fields = links(parity);
  // The interior task writes the block first, so that the boundary task finds it whole.
  AccessList accesses{runtime::in(geometry.handle()), runtime::in(link_fields[0]->block(b)), runtime::in(in.block(b)),
                      boundary ? runtime::inout_apart(out.block(b)) : runtime::out(out.block(b))};
  // Without sums no order with those who read them.
  if (task.sums.count(1) > 0)
    accesses.push_back(runtime::out(sums_.task(parts_of(*lattice_) * lattice_->decomposition().local_index(b) + (boundary ? 1 : 0))));
  task.link_fields = link_fields[1] != nullptr ? 2 : 1;
  if (link_fields[1] != nullptr) accesses.push_back(runtime::in(link_fields[1]->block(b)));
  if (task.has_x) accesses.push_back(runtime::in(output.x->block(b)));
  if (task.has_y) accesses.push_back(runtime::in(output.y->block(b)));
  add_epilogue_fields(accesses, output, b);
  if (task.has_beside) accesses.push_back(runtime::in(output.epilogue.mixing.beside->block(b)));
  if (task.mixes) accesses.push_back(runtime::in(*output.epilogue.mixing.numbers));
  if (task.has_state) accesses.push_back(runtime::in(*submission.guard.state));
  if (boundary) read_faces(geometry, faces_, task.face_buffer, accesses);
  runtime::submit(task.mixes ? *mixing_codelet(boundary) : sites_codelet(boundary), task, accesses, cost(list.count, output),
                  {.owner = geometry.block().owner, .block = b, .urgent = boundary, .role = role_of(submission.guard.when)});
}

}  // namespace quarkstar::stencil
