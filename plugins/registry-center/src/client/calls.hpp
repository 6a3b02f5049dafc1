#pragma once
#include <memory>
#include <string>
#include <vector>

#include "messages.hpp"
#include "tenon/functions.hpp"

namespace tenon::center {

/// The methods of a center, as messages.hpp has them. Those that may be sent twice say so.
struct Calls {
  explicit Calls(const std::shared_ptr<Reference>& center)
      : open(center, "open", true),
        beat(center, "beat", true),
        announce(center, "announce", true),
        update(center, "update", true),
        withdraw(center, "withdraw", true),
        close(center, "close", true),
        watch(center, "watch", true),
        watch_document(center, "watch_document", true),
        services(center, "services", true),
        groups(center, "groups", true),
        instances(center, "instances", true),
        subscribers(center, "subscribers", true),
        read(center, "read", true),
        write(center, "write"),
        remove(center, "remove"),
        set_weight(center, "set_weight", true),
        set_serving(center, "set_serving", true) {}

  ClientFunction<Opened(Opening)> open;
  ClientFunction<Beaten(ClientKey)> beat;
  ClientFunction<void(ClientKey, ServiceName, Instance)> announce;
  ClientFunction<void(ClientKey, ServiceName, Instance)> update;
  ClientFunction<void(ClientKey, ServiceName, std::string)> withdraw;
  ClientFunction<void(ClientKey)> close;
  ClientStreamFunction<List(ClientKey, ServiceName, std::string)> watch;
  ClientStreamFunction<Document(ClientKey, std::string, std::string)> watch_document;

  ClientFunction<std::vector<ServiceName>()> services;
  ClientFunction<std::vector<std::string>()> groups;
  ClientFunction<std::vector<Instance>(ServiceName)> instances;
  ClientFunction<std::vector<Subscriber>(ServiceName)> subscribers;
  ClientFunction<Document(std::string, std::string)> read;
  ClientFunction<void(Document)> write;
  ClientFunction<void(Document)> remove;
  ClientFunction<void(ServiceName, std::string, std::uint32_t)> set_weight;
  ClientFunction<void(ServiceName, std::string, bool)> set_serving;
};

}  // namespace tenon::center
