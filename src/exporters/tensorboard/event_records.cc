// SPDX-License-Identifier: Apache-2.0
#include "exporters/tensorboard/event_records.h"

#include <cstring>

#include "base/utf8.h"
#include "exporters/proto/tensorboard.pb.h"
#include "exporters/tensorboard/masked_checksum.h"

namespace goodput::exporters {
namespace {

constexpr int kStringType = 7;
constexpr int kScalarClass = 1;
constexpr int kTensorClass = 2;

template <typename Integer>
void put(Integer value, char* at) {
  std::memcpy(at, &value, sizeof(value));
}

std::string repaired(std::string_view text) {
  std::string out;
  append_repaired(out, text);
  return out;
}

}  // namespace

struct EventRecords::Message {
  tensorboard::Event event;
};

EventRecords::EventRecords(int64_t now_ns) : message_(std::make_unique<Message>()) {
  message_->event.set_wall_time(static_cast<double>(now_ns) / 1e9);
  message_->event.set_file_version("brain.Event:2");
  append();
}
EventRecords::~EventRecords() = default;
EventRecords::EventRecords(EventRecords&&) noexcept = default;
EventRecords& EventRecords::operator=(EventRecords&&) noexcept = default;

/// A record: its length, the length's checksum, the message, the message's checksum.
void EventRecords::append() {
  constexpr size_t kHead = 12, kFoot = 4;
  const size_t size = message_->event.ByteSizeLong();
  const size_t at = bytes_.size();
  bytes_.resize(at + kHead + size + kFoot);
  char* const head = bytes_.data() + at;
  put<uint64_t>(size, head);
  put(masked_crc32c(std::as_bytes(std::span(head, 8))), head + 8);
  message_->event.SerializeWithCachedSizesToArray(reinterpret_cast<uint8_t*>(head + kHead));
  put(masked_crc32c(std::as_bytes(std::span(head + kHead, size))), head + kHead + size);
}

void EventRecords::scalar(std::string_view tag, int64_t step, int64_t wall_ns, double value) {
  tensorboard::Event& event = message_->event;
  event.set_wall_time(static_cast<double>(wall_ns) / 1e9);
  event.set_step(step);
  tensorboard::Summary& summary = *event.mutable_summary();
  tensorboard::Value& point = summary.value_size() == 1 ? *summary.mutable_value(0) : *summary.add_value();
  const bool is_known = tag == last_tag_;
  if (!is_known) {
    last_tag_ = tag;
    point.set_tag(clean_tag(tag));
    point.clear_metadata();
  }
  point.set_simple_value(static_cast<float>(value));
  if (!is_known && !named_.contains(tag)) {
    named_.emplace(tag);
    tensorboard::SummaryMetadata& metadata = *point.mutable_metadata();
    metadata.mutable_plugin_data()->set_plugin_name("scalars");
    metadata.set_display_name(repaired(tag.substr(tag.rfind('/') + 1)));
    metadata.set_data_class(kScalarClass);
    append();
    point.clear_metadata();
    return;
  }
  append();
}

void EventRecords::text(std::string_view tag, int64_t step, int64_t wall_ns, std::string_view markdown) {
  tensorboard::Event& event = message_->event;
  event.Clear();
  last_tag_.clear();
  event.set_wall_time(static_cast<double>(wall_ns) / 1e9);
  event.set_step(step);
  tensorboard::Value& value = *event.mutable_summary()->add_value();
  value.set_tag(clean_tag(tag));
  value.mutable_metadata()->mutable_plugin_data()->set_plugin_name("text");
  value.mutable_metadata()->set_data_class(kTensorClass);
  value.mutable_tensor()->set_dtype(kStringType);
  value.mutable_tensor()->mutable_tensor_shape();
  value.mutable_tensor()->add_string_val(repaired(markdown));
  append();
  event.Clear();
}

void EventRecords::layout(int64_t wall_ns, const std::vector<TensorBoardCategory>& categories) {
  tensorboard::Layout layout;
  for (const TensorBoardCategory& category : categories) {
    tensorboard::Category& made = *layout.add_category();
    made.set_title(category.title);
    for (const TensorBoardChart& chart : category.charts) {
      tensorboard::Chart& added = *made.add_chart();
      added.set_title(chart.title);
      for (const std::string& tag : chart.tags) added.mutable_multiline()->add_tag(tag);
    }
  }
  tensorboard::Event& event = message_->event;
  event.Clear();
  last_tag_.clear();
  event.set_wall_time(static_cast<double>(wall_ns) / 1e9);
  tensorboard::Value& value = *event.mutable_summary()->add_value();
  value.set_tag("custom_scalars__config__");
  value.mutable_metadata()->mutable_plugin_data()->set_plugin_name("custom_scalars");
  value.mutable_tensor()->set_dtype(kStringType);
  value.mutable_tensor()->mutable_tensor_shape();
  value.mutable_tensor()->add_string_val(layout.SerializeAsString());
  append();
  event.Clear();
}

std::string EventRecords::take() { return std::exchange(bytes_, {}); }

std::string clean_tag(std::string_view tag) {
  std::string out;
  for (size_t i = 0; i < tag.size();) {
    const CodePoint c = decode_utf8(tag, i);
    const bool plain = c.value < 0x80 && (std::isalnum(static_cast<int>(c.value)) != 0 || c.value == '-' ||
                                          c.value == '/' || c.value == '_' || c.value == '.');
    out += plain ? static_cast<char>(c.value) : '_';
    i += c.length;
  }
  return out.substr(std::min(out.find_first_not_of('/'), out.size()));
}

}  // namespace goodput::exporters
