// An event with its own copies of the strings and details that it refers to.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "event/event.h"
#include "ledger/key.h"

namespace goodput::ledger {

/// Move-only. The origin stays the producer's.
class OwnedEvent {
 public:
  OwnedEvent(const event::Event& event, const Key& key) : event_(event), key_(key) {
    if (event.name.empty() && event.detail == nullptr) return;
    strings_ = std::make_unique<Strings>();
    strings_->name = event.name;
    event_.name = strings_->name;
    if (event.detail == nullptr) return;
    strings_->location = event.detail->location;
    strings_->cause = event.detail->cause;
    strings_->text = event.detail->text;
    strings_->detail = *event.detail;
    strings_->detail.location = strings_->location;
    strings_->detail.cause = strings_->cause;
    strings_->detail.text = strings_->text;
    event_.detail = &strings_->detail;
  }

  [[nodiscard]] const event::Event& event() const { return event_; }
  [[nodiscard]] const Key& key() const { return key_; }
  /// Its time after clock corrections.
  [[nodiscard]] int64_t ns() const { return key_.ns; }
  void move_to(const Key& key) { key_ = key; }

 private:
  struct Strings {
    std::string name, location, cause, text;
    event::Detail detail;
  };

  event::Event event_;
  Key key_;
  std::unique_ptr<Strings> strings_;
};

}  // namespace goodput::ledger
