#include "codelets/actions/prepared_action.hpp"

#include "runtime/graph/turns.hpp"

namespace quarkstar {

PreparedAction::PreparedAction(const runtime::Decomposition& decomposition, stencil::Subject subject, const Speed& speed, double resident)
    : decomposition_(decomposition), subject_(std::move(subject)), speed_(speed), resident_(resident) {
  subject_.layout.vectors_in_lanes = speed.vectors_in_lanes;
  subject_.layout.most_lanes = speed.most_lanes;
  tile_ = speed.tile ? *speed.tile : stencil::tile_for(problem(), speed.measure);
  subject_.layout.tile = tile_;
  lattice_ = std::make_shared<Lattice>(decomposition, subject_.precision, subject_.boundary, subject_.layout);
}

PreparedAction::PreparedAction(const PreparedAction& other, stencil::Subject subject)
    : decomposition_(other.decomposition_),
      subject_(std::move(subject)),
      speed_(other.speed_),
      resident_(other.resident_),
      tile_(other.tile_),
      lattice_(other.lattice_) {
  subject_.layout = other.subject_.layout;
}

stencil::Stencil& PreparedAction::stencil(int vectors) {
  auto& found = stencils_[{runtime::Turns::lane(), vectors}];
  if (found) return *found;
  found = make_stencil(vectors);
  auto launch = launches_.find(vectors);
  if (launch == launches_.end()) {
    stencil::TuningProblem wanted = problem();
    wanted.vectors = vectors;
    const bool measure = speed_.measure && !runtime::Turns::taken();
    launch = launches_.emplace(vectors, speed_.launch ? *speed_.launch : stencil::launch_for(wanted, tile_, measure)).first;
  }
  found->set_launch(launch->second);
  return *found;
}

}  // namespace quarkstar
