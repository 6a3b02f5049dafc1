#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "tenon/describe.hpp"

namespace tenon::center {

struct CenterOptions {
  std::string store;
  std::chrono::milliseconds lease{15000};
  std::chrono::milliseconds settle{5000};
  std::string token;
  std::string operator_token;
  std::uint32_t preserve_percent = 15;
  std::uint32_t preserve_limit = 3;
  std::uint32_t max_clients = 20000;
  std::uint32_t max_instances = 100000;
  std::uint32_t max_subscriptions = 100000;
  ByteSize max_list = 3u << 20;
  std::uint32_t max_documents = 10000;
  ByteSize max_document_bytes = 256u << 20;
};
BOOST_DESCRIBE_STRUCT(CenterOptions, (),
                      (store, lease, settle, token, operator_token, preserve_percent, preserve_limit, max_clients,
                       max_instances, max_subscriptions, max_list, max_documents, max_document_bytes))

}  // namespace tenon::center

template <>
struct tenon::Describe<tenon::center::CenterOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("store", "folder for documents and what operators set; made if missing; empty: kept in memory"),
      tenon::member("lease", "what is announced is dropped after so long a silence of its client"),
      tenon::member("settle", "after a start lists are not whole for a lease, and at least for so long"),
      tenon::member("token", "what clients and operators must send; empty: anybody may come"),
      tenon::member("operator_token", "what operators must send to change something; empty: as token"),
      tenon::member("preserve_percent", "when more instances than this are silent at once, none is dropped; 100: off"),
      tenon::member("preserve_limit", "for how many leases that lasts at most"),
      tenon::member("max_clients", "applications that may be known at a time"),
      tenon::member("max_instances", "instances of all services; one client has at most 10000"),
      tenon::member("max_subscriptions", "services and documents that are watched; one client has at most 10000"),
      tenon::member("max_list", "what the instances of one service may take; less than limits.max_frame of everybody"),
      tenon::member("max_documents", "documents that are kept"),
      tenon::member("max_document_bytes", "what the texts of all documents may take; each has at most 1 MiB"));
};
