#pragma once
// Which two-point functions there are, and which of them a run wants.
#include "codelets/contract/channel.hpp"
#include "codelets/contract/propagator.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace quarkstar::contract {

/// A family of families.inc as settings and outputs see it.
struct Family {
  std::string_view name;
  int columns;     ///< of the propagator that it is made of, or of two of them, one after the other
  int components;  ///< of a column
  bool complex;    ///< at momentum zero too
  std::span<const Channel> channels;
  std::string_view of_one;  ///< of correlators of two quarks: the family of those of one quark that have the same names; else empty

  /// What settings call it.
  std::string_view word() const { return of_one.empty() ? name : of_one; }
};
const std::vector<Family>& families();

/// Those of two quarks, of which both have these families.
std::vector<std::string_view> families_of_two(const std::vector<std::string_view>& first, const std::vector<std::string_view>& second);

/// What is asked of a propagator.
struct Request {
  std::vector<std::string> names = {};  ///< correlators, groups of them or whole families; empty: the usual ones
  std::vector<Momentum> momenta = {{0, 0, 0}};
  bool fold = false;  ///< forward and backward averaged: [C(t) + reflection C(T - t)] / 2, of channels with a reflection
};

/// [C(t) + reflection C(T - t)] / 2; C where there is no reflection, 0.
std::vector<double> folded(const std::vector<double>& values, int reflection);

/// Channels of one family.
struct Choice {
  const Family* family;
  std::vector<int> channels;
};

/// What a request means for an action with these families. Throws Error(input) naming `parameter`, a word in the plural,
/// where a name is none of theirs.
std::vector<Choice> choose(const std::vector<std::string_view>& families_of_action, const std::vector<std::string>& names,
                           std::string_view parameter = "correlators");

/// Bytes of the sums that each thread keeps while the largest of them is contracted.
double sum_bytes(const std::vector<Choice>& choices, std::size_t momenta, int times);

/// The channels of a choice that have a meaning for a source, or those that have none.
std::vector<Choice> that_fit(const std::vector<Choice>& choices, const Source& source, bool fit = true);

/// Which channels of the choices a source leaves out, and why; empty where it leaves none out.
std::string left_out(const std::vector<Choice>& choices, const Source& source);

/// "rho_x", and with momentum "rho_x_p1,0,-1".
std::string name_of(const Channel& channel, const Momentum& momentum);

/// The channel of a correlator whose name begins with the channel's, as name_of() has it: what follows begins with "_".
const Channel& channel_of(std::string_view correlator);

}  // namespace quarkstar::contract
