// SPDX-License-Identifier: Apache-2.0
#include "simulate/simulation.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "simulate/random.h"

namespace goodput::simulate {
namespace {

using event::Detail;
using event::Event;
using event::Kind;
using event::Origin;

/// No more than this: a job that fails more often than it saves would never end.
constexpr int kMaxFailures = 10'000;
constexpr size_t kEventsPerCall = 512;
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

int64_t ns_of(double seconds) { return std::llround(seconds * 1e9); }

/// What an event has beside its time and kind.
struct More {
  int64_t step = 0;
  uint8_t flags = 0;
  std::string_view name = {};
  const Detail* detail = nullptr;
  int64_t duration_ns = 0;
};

enum class Failure { kCrash, kKill, kPreemption, kHang, kRollback };

}  // namespace

/// One run of one simulation. Time is that of rank 0; whatever happens at `now_ns_` or later is still to come.
class Simulation::Job {
 public:
  Job(const Options& options, Sink sink) : options_(options), sink_(sink), random_(options.seed) {
    checkpoint_.location = options.checkpoint_directory;
    work_.tokens = options.tokens_per_step;
  }

  void run() {
    while (!stopped_ && step_ < options_.steps) {
      start_attempt();
      run_steps();
    }
    if (!stopped_ && options_.complete) end_job(0);
    release(kNever);
    hand_over();
  }

 private:
  void start_attempt();
  void run_steps();
  void run_step();
  void save(int64_t next_step);
  void evaluate();
  void restore();
  void beat_until(int64_t ns);
  void end_job(uint8_t flags);

  void fail();
  Failure draw_failure();
  void draw_next_failure();
  void process_exit(int64_t ns, int32_t value, uint8_t flag);
  void annotate(std::string_view cause, std::string_view text);

  void on_every_rank(Kind kind, int64_t ns, const More& more = {});
  void interval(Kind start, double seconds, const More& more = {});
  void record(const Event& event) { waiting_.push_back(event); }
  void release(int64_t before_ns);
  void hand_over();
  const Origin* origin(int64_t rank) const {
    return options_.origins ? &origins_[first_origin_ + static_cast<size_t>(rank)] : nullptr;
  }

  const Options& options_;
  Sink sink_;
  Random random_;
  Detail checkpoint_;
  Detail work_;
  std::deque<std::string> texts_;
  std::deque<Origin> origins_;      // of all attempts: ranks, then the launcher
  std::deque<Detail> disruptions_;  // one for each of the few annotations that differ
  size_t first_origin_ = 0;         // of this attempt

  std::vector<int64_t> rank_ns_ = std::vector<int64_t>(static_cast<size_t>(options_.ranks));  // its latest event
  int64_t now_ns_ = options_.start_ns;
  int64_t step_ = 0;
  int64_t saved_step_ = 0;  // where a restore goes on
  int attempt_ = -1;
  int failures_ = 0;
  bool first_step_ = false;  // of the attempt: it compiles
  int64_t fails_ns_ = kNever;
  int64_t next_beat_ns_ = 0;
  bool attempt_over_ = false;

  std::vector<Event> waiting_;  // recorded, by no order
  std::vector<Event> ready_;    // by time
  uint64_t ordinal_ = 0;
  bool stopped_ = false;
};

Simulation::Simulation(const Options& options) : options_(options) {
  options_.ranks = std::max<int64_t>(options_.ranks, 1);
  options_.origins = options_.origins || options_.ranks > 1;
  options_.launcher = options_.launcher && options_.origins;
}
Simulation::~Simulation() = default;

void Simulation::run(Sink sink) {
  job_ = std::make_unique<Job>(options_, sink);
  job_->run();
}

void Simulation::Job::start_attempt() {
  ++attempt_;
  attempt_over_ = false;
  if (options_.origins) {
    first_origin_ = origins_.size();
    const std::string& id = texts_.emplace_back("attempt-" + std::to_string(attempt_));
    for (int64_t rank = 0; rank < options_.ranks; ++rank) {
      const std::string& host = texts_.emplace_back("host-" + std::to_string(rank));
      origins_.push_back({.attempt_id = id, .host = host, .process_index = rank, .pid = 1000 + attempt_});
    }
    origins_.push_back({.attempt_id = id, .role = "launcher", .host = "host-0", .pid = 100});
  }
  if (options_.job_events) on_every_rank(Kind::kJobStart, now_ns_);
  next_beat_ns_ = now_ns_;
  interval(Kind::kAcceleratorInitStart, random_.skewed(options_.init_seconds));
  if (options_.prep_seconds > 0) on_every_rank(Kind::kTrainingPrepStart, now_ns_);
  now_ns_ += ns_of(random_.skewed(options_.prep_seconds));
  if (saved_step_ > 0) restore();
  if (options_.prep_seconds > 0) on_every_rank(Kind::kTrainingPrepEnd, now_ns_);
  step_ = saved_step_;
  first_step_ = true;
  draw_next_failure();
}

void Simulation::Job::run_steps() {
  while (!attempt_over_ && !stopped_ && step_ < options_.steps) {
    run_step();
    if (!attempt_over_) beat_until(now_ns_);
    release(now_ns_);
  }
}

void Simulation::Job::run_step() {
  interval(Kind::kDataLoadingStart, random_.skewed(options_.load_seconds));
  const bool tells_work = options_.tokens_per_step > 0;
  const int64_t started_ns = now_ns_;
  on_every_rank(Kind::kStepStart, now_ns_, {.step = step_, .detail = tells_work ? &work_ : nullptr});
  double seconds = random_.gaussian(options_.step_seconds, options_.step_seconds * options_.step_jitter);
  if (options_.slow_steps > 0 && random_.happens(options_.slow_steps)) seconds *= 2 + 3 * random_.uniform();
  if (first_step_) seconds += random_.skewed(options_.compile_seconds);
  first_step_ = false;
  const int64_t end_ns = now_ns_ + std::max<int64_t>(ns_of(seconds), 1);
  if (end_ns > fails_ns_) {
    now_ns_ = std::max(fails_ns_, started_ns);
    fail();
    return;
  }
  now_ns_ = end_ns;
  if (options_.step_ends) on_every_rank(Kind::kStepEnd, now_ns_, {.step = step_});
  ++step_;
  if (options_.checkpoint_every > 0 && step_ % options_.checkpoint_every == 0) save(step_);
  if (options_.eval_every > 0 && step_ % options_.eval_every == 0) evaluate();
}

/// Saves what is done before `next_step`, where a restore will go on.
void Simulation::Job::save(int64_t next_step) {
  const double seconds = random_.skewed(options_.checkpoint_seconds);
  More more{.step = next_step - 1, .flags = event::kHasStep, .detail = &checkpoint_};
  if (options_.statistics) {
    more.duration_ns = ns_of(seconds);
    on_every_rank(Kind::kCheckpointSave, now_ns_, more);
    now_ns_ += more.duration_ns;
  } else {
    interval(Kind::kCheckpointSaveStart, seconds, more);
  }
  saved_step_ = next_step;
}

void Simulation::Job::evaluate() {
  interval(Kind::kCustomStart, random_.skewed(options_.eval_seconds), {.name = options_.eval_name});
}

void Simulation::Job::restore() {
  const double seconds = random_.skewed(options_.restore_seconds);
  More more{.step = saved_step_ - 1, .flags = event::kHasStep, .detail = &checkpoint_};
  if (options_.statistics) {
    more.duration_ns = ns_of(seconds);
    on_every_rank(Kind::kCheckpointRestore, now_ns_, more);
    now_ns_ += more.duration_ns;
  } else {
    interval(Kind::kCheckpointRestoreStart, seconds, more);
  }
}

void Simulation::Job::beat_until(int64_t ns) {
  if (options_.heartbeat_seconds <= 0) return;
  for (; next_beat_ns_ <= ns; next_beat_ns_ += ns_of(options_.heartbeat_seconds)) {
    on_every_rank(Kind::kHeartbeat, next_beat_ns_);
  }
}

void Simulation::Job::end_job(uint8_t flags) {
  if (options_.job_events) on_every_rank(Kind::kJobEnd, now_ns_, {.flags = flags});
  process_exit(now_ns_ + ns_of(0.5), flags == event::kFailed ? 1 : 0, event::kCode);
}

void Simulation::Job::fail() {
  ++failures_;
  const Failure failure = draw_failure();
  if (failure == Failure::kRollback) {
    now_ns_ += ns_of(random_.skewed(1));
    restore();
    step_ = saved_step_;
    draw_next_failure();
    return;
  }
  attempt_over_ = true;
  if (failure == Failure::kHang) now_ns_ += ns_of(random_.skewed(options_.hang_seconds));
  beat_until(now_ns_);
  switch (failure) {
    case Failure::kCrash:
      end_job(event::kFailed);
      break;
    case Failure::kPreemption:
      annotate("preempted", "the host will be taken away");
      save(step_);
      process_exit(now_ns_ + ns_of(0.5), 15, event::kSignal);
      break;
    case Failure::kHang:
      annotate("hang", "killed by a watchdog");
      process_exit(now_ns_ + ns_of(0.5), 9, event::kSignal);
      break;
    default:
      process_exit(now_ns_ + ns_of(0.5), 9, event::kSignal);
      break;
  }
  now_ns_ += std::max(ns_of(random_.skewed(options_.recovery_seconds, 0.5)), ns_of(1));
}

Failure Simulation::Job::draw_failure() {
  const FailureShares& shares = options_.failures;
  const double weights[] = {shares.crash, shares.kill, shares.preemption, shares.hang, shares.rollback};
  double sum = 0;
  for (const double weight : weights) sum += weight;
  double drawn = random_.uniform() * sum;
  for (size_t i = 0; i < std::size(weights); ++i) {
    drawn -= weights[i];
    if (drawn < 0) return static_cast<Failure>(i);
  }
  return Failure::kCrash;
}

void Simulation::Job::draw_next_failure() {
  const bool fails = options_.mtbf_seconds > 0 && failures_ < kMaxFailures;
  fails_ns_ = fails ? now_ns_ + ns_of(random_.exponential(options_.mtbf_seconds)) : kNever;
}

void Simulation::Job::process_exit(int64_t ns, int32_t value, uint8_t flag) {
  if (!options_.launcher) return;
  record({.time_ns = ns,
          .origin = origin(options_.ranks),
          .exit_value = value,
          .kind = Kind::kProcessExit,
          .flags = flag});
}

void Simulation::Job::annotate(std::string_view cause, std::string_view text) {
  auto known = std::ranges::find(disruptions_, cause, &Detail::cause);
  const Detail& detail =
      known != disruptions_.end() ? *known : disruptions_.emplace_back(Detail{.cause = cause, .text = text});
  record({.time_ns = now_ns_, .origin = origin(0), .detail = &detail, .kind = Kind::kDisruption});
}

/// Ranks other than 0 come a little later, now and then much; each by its own clock in order.
void Simulation::Job::on_every_rank(Kind kind, int64_t ns, const More& more) {
  for (int64_t rank = 0; rank < options_.ranks; ++rank) {
    int64_t& rank_ns = rank_ns_[static_cast<size_t>(rank)];
    double late_seconds = 0;
    if (rank > 0) late_seconds = random_.happens(0.005) ? 0.1 * random_.uniform() : random_.exponential(0.001);
    rank_ns = std::max(rank_ns, ns + ns_of(late_seconds));
    record({.time_ns = rank_ns,
            .step = more.step,
            .duration_ns = more.duration_ns,
            .name = more.name,
            .origin = origin(rank),
            .detail = more.detail,
            .kind = kind,
            .flags = more.flags});
  }
}

/// From now on; 0 seconds are no interval.
void Simulation::Job::interval(Kind start, double seconds, const More& more) {
  if (seconds <= 0) return;
  on_every_rank(start, now_ns_, more);
  now_ns_ += ns_of(seconds);
  More end = more;
  end.flags &= static_cast<uint8_t>(~event::kBlocking);
  on_every_rank(static_cast<Kind>(static_cast<int>(start) + 1), now_ns_, end);
}

/// Puts what was recorded before a time into order: nothing earlier will come.
void Simulation::Job::release(int64_t before_ns) {
  std::ranges::stable_sort(waiting_, {}, &Event::time_ns);
  const auto end = std::ranges::lower_bound(waiting_, before_ns, {}, &Event::time_ns);
  for (auto event = waiting_.begin(); event != end; ++event) {
    event->position = {0, ordinal_++};
    ready_.push_back(*event);
  }
  waiting_.erase(waiting_.begin(), end);
  if (ready_.size() >= kEventsPerCall) hand_over();
}

void Simulation::Job::hand_over() {
  if (!stopped_ && !ready_.empty() && !sink_(ready_)) stopped_ = true;
  ready_.clear();
}

}  // namespace goodput::simulate
