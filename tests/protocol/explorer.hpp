#pragma once
// A checker of protocols: goes through every interleaving of a few processes, each a short list of steps on shared bytes, and finds states
// in which a step breaks a rule, or from which nobody can go on.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace quarkstar::protocol {

/// All that processes share, and where each of them is. A model gives the bytes their meaning.
struct State {
  std::array<std::uint8_t, 80> bytes{};
  std::array<std::uint8_t, 24> at{};  ///< the next step of each process
  bool broken = false;                ///< a step has broken a rule
  std::uint8_t& operator[](std::size_t i) { return bytes[i]; }
  std::uint8_t operator[](std::size_t i) const { return bytes[i]; }
};

/// One thing that a process does at once: where `may` holds, `does` changes the state.
struct Step {
  std::string name;
  std::function<bool(const State&)> may;
  std::function<void(State&)> does;
  int next = 1;  ///< so many steps on
};

/// A process: at each place it takes one of the steps that are there, whichever may be taken. Beyond the last place it has ended.
struct Process {
  std::string name;
  std::vector<std::vector<Step>> places;
  void then(Step step) { places.push_back({std::move(step)}); }
  void either(std::vector<Step> steps) { places.push_back(std::move(steps)); }
};

struct Outcome {
  std::size_t states = 0;
  std::string fault;  ///< empty: every interleaving ends well. Otherwise what is wrong and the steps that lead there
};

/// Goes through all states that can be reached from zeroed bytes. Processes only move forward, so each interleaving ends.
class Explorer {
 public:
  explicit Explorer(std::vector<Process> processes) : processes_(std::move(processes)) {}

  Outcome explore() {
    visit(State{});
    return {seen_.size(), fault_};
  }

 private:
  void visit(const State& state) {
    if (!fault_.empty() || !seen_.insert(key_of(state)).second) return;
    bool any = false, all_ended = true;
    for (std::size_t p = 0; p < processes_.size(); ++p) {
      const Process& process = processes_[p];
      if (state.at[p] >= process.places.size()) continue;
      all_ended = false;
      for (const Step& step : process.places[state.at[p]]) {
        if (!step.may(state)) continue;
        any = true;
        State next = state;
        step.does(next);
        next.at[p] = static_cast<std::uint8_t>(next.at[p] + step.next);
        trace_.push_back(process.name + ": " + step.name);
        if (next.broken && fault_.empty()) fault_ = told("a rule is broken");
        visit(next);
        trace_.pop_back();
        if (!fault_.empty()) return;
      }
    }
    if (!any && !all_ended) fault_ = told("nobody can go on");
  }

  std::string told(const std::string& what) const {
    std::string text = what + " after";
    for (const std::string& line : trace_) text += "\n  " + line;
    return text;
  }
  static std::string key_of(const State& state) {
    std::string key(state.bytes.begin(), state.bytes.end());
    key.append(state.at.begin(), state.at.end());
    return key;
  }

  std::vector<Process> processes_;
  std::unordered_set<std::string> seen_;
  std::vector<std::string> trace_;
  std::string fault_;
};

inline Outcome explore(std::vector<Process> processes) { return Explorer(std::move(processes)).explore(); }

inline bool always(const State&) { return true; }

/// A message in a buffer is its number, from 1; while it is being written it is torn, and who reads it then is broken.
inline constexpr std::uint8_t torn = 255;

/// Writing and reading take two steps each: what comes in between is seen.
inline void add_write(Process& process, const std::string& what, std::size_t buffer, std::uint8_t message,
                      std::function<void(State&)> afterwards) {
  process.then({"begins " + what, always, [buffer](State& s) { s[buffer] = torn; }});
  process.then({"has written " + what, always, [buffer, message, afterwards = std::move(afterwards)](State& s) {
                  s[buffer] = message;
                  afterwards(s);
                }});
}
inline void add_read(Process& process, const std::string& what, std::size_t buffer, std::uint8_t message,
                     std::function<void(State&)> afterwards) {
  const auto looks = [buffer, message](State& s) { s.broken = s.broken || s[buffer] != message; };
  process.then({"begins to read " + what, always, looks});
  process.then({"has read " + what, always, [looks, afterwards = std::move(afterwards)](State& s) {
                  looks(s);
                  afterwards(s);
                }});
}
/// Waits until a byte has reached a number.
inline void add_wait(Process& process, const std::string& what, std::size_t byte, int number) {
  process.then({"sees " + what, [byte, number](const State& s) { return s[byte] >= number; }, [](State&) {}});
}

}  // namespace quarkstar::protocol
