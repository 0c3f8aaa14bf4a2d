#include "codelets/contract/correlators.hpp"

#include "codelets/contract/contract_kernels.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace quarkstar::contract {
namespace {

template <class Family>
constexpr std::string_view name_of_one() {
  if constexpr (requires { typename Family::OfOne; }) return Family::OfOne::name;
  else return {};
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> all{
#define QUARKSTAR_CORRELATORS(family) \
  {family::name, family::columns, components_of<family>, family::reals == 2, family::channels, name_of_one<family>()},
#include "codelets/contract/families.inc"
#undef QUARKSTAR_CORRELATORS
  };
  return all;
}

std::vector<std::string_view> families_of_two(const std::vector<std::string_view>& first, const std::vector<std::string_view>& second) {
  const auto has = [](const std::vector<std::string_view>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<std::string_view> names;
  for (const Family& family : families())
    if (has(first, family.of_one) && has(second, family.of_one)) names.push_back(family.name);
  return names;
}

std::vector<double> folded(const std::vector<double>& values, int reflection) {
  if (reflection == 0) return values;
  std::vector<double> both(values.size());
  for (std::size_t t = 0; t < values.size(); ++t) both[t] = 0.5 * (values[t] + reflection * values[(values.size() - t) % values.size()]);
  return both;
}

std::vector<Choice> choose(const std::vector<std::string_view>& families_of_action, const std::vector<std::string>& names,
                           std::string_view parameter) {
  std::vector<Choice> choices;
  for (const std::string_view name : families_of_action) {
    const auto family = std::find_if(families().begin(), families().end(), [name](const Family& f) { return f.name == name; });
    if (family == families().end())
      throw Error(ErrorKind::internal, std::string(name), "there is no such family of correlators", "this is a defect");
    choices.push_back({&*family, {}});
  }
  const auto for_channels = [&](auto&& body) {
    for (Choice& choice : choices)
      for (std::size_t c = 0; c < choice.family->channels.size(); ++c) body(choice, static_cast<int>(c), choice.family->channels[c]);
  };
  std::vector<std::string_view> known;
  const auto add = [&known](std::string_view name) {
    if (!name.empty() && std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
  };
  for (const Choice& choice : choices) add(choice.family->word());
  for_channels([&](Choice& choice, int c, const Channel& channel) {
    add(channel.name);
    add(channel.group);
    if (names.empty() && channel.usual) choice.channels.push_back(c);
  });
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(ErrorKind::input, Parameter(parameter),
                  fmt::format("'{}' is no {} of this action", name, parameter.substr(0, parameter.size() - 1)),
                  fmt::format("use some of {}", fmt::join(known, ", ")));
    for_channels([&](Choice& choice, int c, const Channel& channel) {
      if (channel.name == name || channel.group == name || choice.family->word() == name) choice.channels.push_back(c);
    });
  }
  for (Choice& choice : choices) {
    std::sort(choice.channels.begin(), choice.channels.end());
    choice.channels.erase(std::unique(choice.channels.begin(), choice.channels.end()), choice.channels.end());
  }
  std::erase_if(choices, [](const Choice& choice) { return choice.channels.empty(); });
  return choices;
}

double sum_bytes(const std::vector<Choice>& choices, std::size_t momenta, int times) {
  std::size_t channels = 0;
  for (const Choice& choice : choices) channels = std::max(channels, choice.channels.size());
  return 2.0 * static_cast<double>(channels * momenta) * times * sizeof(runtime::BinnedSum);
}

std::vector<Choice> that_fit(const std::vector<Choice>& choices, const Source& source, bool fit) {
  std::vector<Choice> result = choices;
  for (Choice& choice : result)
    std::erase_if(choice.channels, [&](int c) {
      const Channel& channel = choice.family->channels[static_cast<std::size_t>(c)];
      return (channel.fits == nullptr || channel.fits(source)) != fit;
    });
  std::erase_if(result, [](const Choice& choice) { return choice.channels.empty(); });
  return result;
}

std::string left_out(const std::vector<Choice>& choices, const Source& source) {
  std::string text;
  for (const Choice& choice : that_fit(choices, source, false)) {
    std::vector<std::string_view> names;
    for (const int c : choice.channels) names.push_back(choice.family->channels[static_cast<std::size_t>(c)].name);
    const std::string_view misfit = choice.family->channels[static_cast<std::size_t>(choice.channels.front())].misfit;
    text += fmt::format("{}{}: {} {}", text.empty() ? "" : "; ", fmt::join(names, ", "), text_of(source), misfit);
  }
  return text;
}

std::string name_of(const Channel& channel, const Momentum& momentum) {
  if (momentum == Momentum{0, 0, 0}) return std::string(channel.name);
  return fmt::format("{}_p{}", channel.name, fmt::join(momentum, ","));
}

const Channel& channel_of(std::string_view correlator) {
  const Channel* longest = nullptr;  // proton_minus_p1,0,0 is no proton
  for (const Family& family : families())
    for (const Channel& channel : family.channels)
      if (correlator == channel.name || (correlator.starts_with(channel.name) && correlator[channel.name.size()] == '_'))
        if (longest == nullptr || longest->name.size() < channel.name.size()) longest = &channel;
  if (longest == nullptr) throw ShapeError("channel_of", fmt::format("'{}' is no correlator", correlator));
  return *longest;
}

}  // namespace quarkstar::contract
