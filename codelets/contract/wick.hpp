#pragma once

namespace quarkstar::contract {

/// The derivative of a hadron's correlator C with respect to the propagator S of one of its quarks: of a meson's quark; of the nucleon's
/// quark that is alone in its flavour, or of the two others; copy: the columns as they are.
enum class Wick { meson, one, two, copy };

}  // namespace quarkstar::contract
