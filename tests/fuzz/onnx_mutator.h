/// Changes ONNX models the way a person would break them: field by field, so that most results are still models.
#pragma once

#include <cstdint>
#include <google/protobuf/message.h>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace hone::fuzz {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

/// Makes one model of another. All choices follow from the seed.
class OnnxMutator {
 public:
  OnnxMutator(unsigned seed, const std::vector<std::string>& words) : random_(seed), words_(words) {}

  /// Changes one to four places. `donor` may be the model itself: parts are copied from there.
  void mutate(Message& model, const Message& donor) {
    collect(donor, donors_);
    for (std::size_t count = 1 + below(4); count > 0; --count) {
      places_.clear();
      collect_mutable(model);
      change(*places_[below(places_.size())]);
    }
  }

 private:
  std::size_t below(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }
  bool one_in(std::size_t count) { return below(count) == 0; }

  /// Every message inside a message, itself included; names and other short texts become words.
  void collect(const Message& message, std::vector<const Message*>& found) {
    found.push_back(&message);
    std::vector<const FieldDescriptor*> fields;
    const Reflection& reflection = *message.GetReflection();
    reflection.ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
      const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
      for (int i = 0; i < count; ++i) {
        if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
          collect(field->is_repeated() ? reflection.GetRepeatedMessage(message, field, i)
                                       : reflection.GetMessage(message, field),
                  found);
        else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING && names_.size() < 500) {
          std::string text = field->is_repeated() ? reflection.GetRepeatedString(message, field, i)
                                                  : reflection.GetString(message, field);
          if (text.size() < 40) names_.push_back(std::move(text));
        }
      }
    }
  }

  void collect_mutable(Message& message) {
    std::vector<const Message*> found;
    names_.clear();
    collect(message, found);
    for (const Message* one : found) places_.push_back(const_cast<Message*>(one));
  }

  void change(Message& message) {
    const Descriptor& descriptor = *message.GetDescriptor();
    const Reflection& reflection = *message.GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection.ListFields(message, &fields);
    // mostly a field that is there, sometimes any
    const FieldDescriptor* field =
        fields.empty() || one_in(5)
            ? descriptor.field(static_cast<int>(below(static_cast<std::size_t>(descriptor.field_count()))))
            : fields[below(fields.size())];
    if (one_in(8)) return reflection.ClearField(&message, field);
    if (field->is_repeated())
      change_repeated(message, *field);
    else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
      replace(*reflection.MutableMessage(&message, field));
    else
      set_single(message, *field);
  }

  void change_repeated(Message& message, const FieldDescriptor& field) {
    const Reflection& reflection = *message.GetReflection();
    const auto size = static_cast<std::size_t>(reflection.FieldSize(message, &field));
    const std::size_t action = below(5);
    const auto any = [&] { return static_cast<int>(below(size)); };
    if (size > 0 && action == 0) return reflection.RemoveLast(&message, &field);
    if (size > 1 && action == 1) return reflection.SwapElements(&message, &field, any(), any());
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      if (size > 0 && action == 2) return replace(*reflection.MutableRepeatedMessage(&message, &field, any()));
      Message& added = *reflection.AddMessage(&message, &field);
      if (size > 0 && action == 3)
        added.CopyFrom(reflection.GetRepeatedMessage(message, &field, any()));
      else
        replace(added);
      if (one_in(2))
        reflection.SwapElements(&message, &field, static_cast<int>(below(size + 1)), static_cast<int>(size));
      return;
    }
    if (size > 0 && action < 4) return set_repeated(message, field, any());
    add_scalar(message, field);
  }

  /// Copies a message of the same kind from the donor.
  void replace(Message& message) {
    std::vector<const Message*> fitting;
    for (const Message* one : donors_)
      if (one->GetDescriptor() == message.GetDescriptor() && one != &message) fitting.push_back(one);
    if (fitting.empty()) return;
    message.CopyFrom(*fitting[below(fitting.size())]);
  }

  std::int64_t number() {
    static constexpr std::int64_t kNumbers[] = {0,         1,         2,  3,  -1,  -2,      4,
                                                7,         8,         16, 17, 255, 256,     INT32_MAX,
                                                INT32_MIN, INT64_MAX, 21, 28, 64,  1 << 20, std::int64_t{1} << 40,
                                                INT64_MIN};
    return one_in(4) ? static_cast<std::int64_t>(below(40)) : kNumbers[below(std::size(kNumbers))];
  }
  double real() {
    using Limits = std::numeric_limits<double>;
    static constexpr double kNumbers[] = {0, 1, -1, 0.5, 1e30, -1e30, 1e-30, Limits::infinity(), Limits::quiet_NaN()};
    return kNumbers[below(std::size(kNumbers))];
  }
  std::string text() {
    if (!names_.empty() && !one_in(3)) return names_[below(names_.size())];
    return one_in(6) ? std::string(below(20), static_cast<char>(below(256))) : words_[below(words_.size())];
  }

  void set_single(Message& message, const FieldDescriptor& field) {
    const Reflection& reflection = *message.GetReflection();
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return reflection.SetInt32(&message, &field, static_cast<std::int32_t>(number()));
      case FieldDescriptor::CPPTYPE_INT64:
        return reflection.SetInt64(&message, &field, number());
      case FieldDescriptor::CPPTYPE_FLOAT:
        return reflection.SetFloat(&message, &field, static_cast<float>(real()));
      case FieldDescriptor::CPPTYPE_ENUM:
        return reflection.SetEnumValue(&message, &field, static_cast<int>(below(16)));
      case FieldDescriptor::CPPTYPE_STRING:
        return reflection.SetString(&message, &field, text());
      default:
        return;
    }
  }

  void set_repeated(Message& message, const FieldDescriptor& field, int i) {
    const Reflection& reflection = *message.GetReflection();
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return reflection.SetRepeatedInt32(&message, &field, i, static_cast<std::int32_t>(number()));
      case FieldDescriptor::CPPTYPE_INT64:
        return reflection.SetRepeatedInt64(&message, &field, i, number());
      case FieldDescriptor::CPPTYPE_UINT64:
        return reflection.SetRepeatedUInt64(&message, &field, i, static_cast<std::uint64_t>(number()));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return reflection.SetRepeatedFloat(&message, &field, i, static_cast<float>(real()));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return reflection.SetRepeatedDouble(&message, &field, i, real());
      case FieldDescriptor::CPPTYPE_STRING:
        return reflection.SetRepeatedString(&message, &field, i, text());
      default:
        return;
    }
  }

  void add_scalar(Message& message, const FieldDescriptor& field) {
    const Reflection& reflection = *message.GetReflection();
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return reflection.AddInt32(&message, &field, static_cast<std::int32_t>(number()));
      case FieldDescriptor::CPPTYPE_INT64:
        return reflection.AddInt64(&message, &field, number());
      case FieldDescriptor::CPPTYPE_UINT64:
        return reflection.AddUInt64(&message, &field, static_cast<std::uint64_t>(number()));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return reflection.AddFloat(&message, &field, static_cast<float>(real()));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return reflection.AddDouble(&message, &field, real());
      case FieldDescriptor::CPPTYPE_STRING:
        return reflection.AddString(&message, &field, text());
      default:
        return;
    }
  }

  std::mt19937 random_;
  const std::vector<std::string>& words_;
  std::vector<const Message*> donors_;
  std::vector<Message*> places_;
  std::vector<std::string> names_;  ///< short texts of the model
};

}  // namespace hone::fuzz
