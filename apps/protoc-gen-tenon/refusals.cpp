#include "refusals.hpp"

#include <google/protobuf/descriptor.pb.h>

#include <sstream>

#include "names.hpp"
#include "tenon/method.pb.h"

namespace tenon::generator {

namespace pb = google::protobuf;

namespace {

// Line and column of a .proto start at 1 for people, at 0 in descriptors.
template <class Descriptor>
std::string place_of(const Descriptor& descriptor) {
  std::string place = descriptor.file()->name();
  pb::SourceLocation location;
  if (descriptor.GetSourceLocation(&location))
    place += ":" + std::to_string(location.start_line + 1) + ":" + std::to_string(location.start_column + 1);
  return place + ": " + descriptor.full_name() + ": ";
}

bool is_lite(const pb::FileDescriptor& file) { return file.options().optimize_for() == pb::FileOptions::LITE_RUNTIME; }

void check_message(const pb::MethodDescriptor& method, const pb::Descriptor& message, std::vector<std::string>& found) {
  if (is_lite(*message.file()))
    found.push_back(place_of(method) + message.full_name() + " has no descriptor, because " + message.file()->name() +
                    " says `option optimize_for = LITE_RUNTIME`; remove that option");
}

void check_method(const pb::MethodDescriptor& method, std::vector<std::string>& found) {
  if (method.client_streaming())
    found.push_back(place_of(method) + (method.server_streaming() ? "bidirectional" : "client") +
                    " streaming is not supported yet; remove `stream` or leave this method out");
  if (method.server_streaming() && method.options().GetExtension(tenon::one_way))
    found.push_back(place_of(method) + "a one_way method answers nothing; remove `stream` or the option");
  check_message(method, *method.input_type(), found);
  if (method.output_type() != method.input_type()) check_message(method, *method.output_type(), found);
}

void check_service(const pb::ServiceDescriptor& service, std::vector<std::string>& found) {
  if (service.file()->options().cc_generic_services())
    found.push_back(place_of(service) +
                    "`option cc_generic_services = true` makes protoc write a class of this name, "
                    "too; remove that option");
  for (int i = 0; i < service.method_count(); ++i) check_method(*service.method(i), found);
}

}  // namespace

std::vector<std::string> refusals(const pb::FileDescriptor& file) {
  std::vector<std::string> found;
  if (file.service_count() == 0) return found;
  std::istringstream words(file.package());
  for (std::string word; std::getline(words, word, '.');) {
    if (!is_reserved(word)) continue;
    found.push_back(
        file.name() + ": package " + file.package() + ": `" + word +
        "` means something else in C++, and protoc uses it as a namespace all the same; rename the package");
  }
  for (int i = 0; i < file.service_count(); ++i) check_service(*file.service(i), found);
  return found;
}

}  // namespace tenon::generator
