#pragma once
// What a run and whoever started it tell each other meanwhile.
#include <memory>
#include <string>

namespace quarkstar::app {

/// Thrown by long work that was interrupted.
struct Interrupted {
  std::string saved;                       ///< folder with what is kept, or empty
  std::string what = "restart files are";  ///< that it holds
};

/// Is told how far something has come. This one keeps silent.
class RunProgress {
 public:
  virtual ~RunProgress() = default;
  /// step: units done; fraction: part of the current unit, 0..1; detail: a few words, such as the residual.
  virtual void update(int /*step*/, double /*fraction*/, const std::string& /*detail*/) {}
  /// A unit is done.
  virtual void step_done(int /*step*/, const std::string& /*detail*/) {}
};

/// Is asked by a run whether it should end or save itself, each rank its own. This one lets it run to its end.
class RunWatch {
 public:
  virtual ~RunWatch() = default;
  virtual bool interrupted() { return false; }
  /// Whether no further source should begin, though one that has begun may still end.
  virtual bool begins_nothing() { return interrupted(); }
  /// Whether a restart file has been asked for since the question before.
  virtual bool save_requested() { return false; }
  /// Whether right-hand sides are being solved for, and not what prepares or follows that on the host; of several groups in flight each
  /// tells for itself.
  virtual void solving(bool /*now*/) {}
  /// title: what is being done, "column"; steps: how many units it has.
  virtual std::unique_ptr<RunProgress> progress(const std::string& /*title*/, int /*steps*/) { return std::make_unique<RunProgress>(); }
};

/// While one lives, right-hand sides are being solved for.
class WhileSolving {
 public:
  explicit WhileSolving(RunWatch& watch) : watch_(watch) { watch.solving(true); }
  WhileSolving(const WhileSolving&) = delete;
  WhileSolving& operator=(const WhileSolving&) = delete;
  ~WhileSolving() { watch_.solving(false); }

 private:
  RunWatch& watch_;
};

/// Nobody watches.
RunWatch& unwatched();

/// Whether any rank of the job has been interrupted: the same answer on all of them, so all must ask.
bool interrupted_anywhere(RunWatch& watch);
/// The same of begins_nothing().
bool begins_nothing_anywhere(RunWatch& watch);
/// Throws Interrupted{saved} on all ranks if any has been interrupted, so all must ask.
void stop_all_if_interrupted(RunWatch& watch, const std::string& saved);

/// Restart files that some rank was asked for, counted for all solves of a run.
class SaveRequests {
 public:
  explicit SaveRequests(RunWatch& watch) : watch_(&watch) {}
  /// How many there were so far. All ranks must ask.
  int ask();
  /// The same without a question: what has come since is left for the next one.
  int so_far() const { return noticed_; }

 private:
  RunWatch* watch_;
  int noticed_ = 0;
};

}  // namespace quarkstar::app
