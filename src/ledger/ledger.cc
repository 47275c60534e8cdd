// SPDX-License-Identifier: Apache-2.0
#include "ledger/ledger.h"

#include <utility>

#include "ledger/engine.h"

namespace goodput::ledger {

Ledger::Ledger(const Options& options, event::Source& source) : engine_(std::make_unique<Engine>(options, source)) {}
Ledger::Ledger(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
Ledger::~Ledger() = default;
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;

void Ledger::push(std::span<const event::Event> events) { engine_->push(events); }
Result<Overview> Ledger::overview(int64_t now_ns) { return engine_->overview(now_ns); }
Result<AccountedSpan> Ledger::account(int64_t now_ns, const Span& span) { return engine_->account(now_ns, span); }
Result<std::vector<Totals>> Ledger::timeline(int64_t now_ns, size_t buckets) {
  return engine_->timeline(now_ns, buckets);
}
Result<std::optional<StepFigures>> Ledger::step_figures(int64_t now_ns) { return engine_->step_figures(now_ns); }
Result<std::vector<AttemptAnswer>> Ledger::attempts(int64_t now_ns) { return engine_->attempts(now_ns); }
Result<std::vector<DisruptionAnswer>> Ledger::disruptions(int64_t now_ns) { return engine_->disruptions(now_ns); }
Status Ledger::step_times(int64_t now_ns, int64_t from_ns,
                          FunctionRef<void(int64_t step, const StepTime& time)> visit) {
  return engine_->step_times(now_ns, from_ns, visit);
}
std::string_view Ledger::custom_name(uint16_t index) const { return engine_->custom_name(index); }
int64_t Ledger::settled_before_ns() const { return engine_->settled_before_ns(); }
std::string Ledger::snapshot() { return engine_->snapshot(); }

Result<Ledger> Ledger::resume(std::string_view snapshot, const Options& options, event::Source& source) {
  auto engine = std::make_unique<Engine>(options, source);
  if (!engine->restore(snapshot)) {
    return Status{StatusCode::kUnsupported,
                  "resuming a ledger: its snapshot is damaged or of another version or options"};
  }
  return Ledger(std::move(engine));
}

}  // namespace goodput::ledger
