#include "admin.hpp"

#include <algorithm>
#include <utility>

#include "provider_node.hpp"
#include "tenon/scope.hpp"

namespace tenon::zk {

namespace {

constexpr std::size_t at_once = 64;
constexpr std::size_t largest_text = 1'000'000;  // the server takes 1 MiB for a whole request
constexpr int most_attempts = 3;
constexpr int most_readings = 5;
constexpr std::size_t most_samples = 64;

Error conflict(const std::string& path) {
  return Error(Errc::already_exists, path + " has been written since it was read; read it again and decide anew",
               Delivery::not_run);
}

Task<Reply> get(Session& session, std::string path) {
  Reply reply = co_await session.get(path, false);
  co_return std::move(reply);
}

}  // namespace

Result<void> check_document(const std::string& kind, const std::string& group) {
  if (auto checked = check_name("the document's kind", kind); !checked.ok()) return checked;
  return check_name("the document's group", group_or_default(group));
}

Task<Result<void>> ZkAdmin::connect() {
  const TimePoint until = std::max(session_.hopeless_at(), session_.clock().now());
  const bool connected = co_await wait_ready(session_, until);
  if (!connected) co_return session_.unavailable();
  co_return Result<void>();
}

Task<Result<std::vector<std::string>>> ZkAdmin::names(std::string path) {
  Reply reply = co_await session_.children(path, false);
  if (reply.code == ZNONODE) co_return std::vector<std::string>();
  if (!reply.ok()) co_return failure("cannot list " + path, reply.code);
  std::sort(reply.names.begin(), reply.names.end());
  co_return std::move(reply.names);
}

Task<Result<ZkAdmin::Nodes>> ZkAdmin::nodes(std::string folder) {
  auto listed = co_await names(folder);
  if (!listed.ok()) co_return std::move(listed).error();
  Nodes found;
  for (std::size_t at = 0; at < listed->size(); at += at_once) {
    const std::size_t end = std::min(listed->size(), at + at_once);
    std::vector<Task<Reply>> reads;
    for (std::size_t each = at; each < end; ++each) reads.push_back(get(session_, folder + "/" + (*listed)[each]));
    std::vector<Reply> replies = co_await all(std::move(reads));
    for (std::size_t each = at; each < end; ++each) {
      Reply& reply = replies[each - at];
      if (reply.code == ZNONODE) continue;  // it has gone meanwhile
      if (!reply.ok()) co_return failure("cannot read " + folder + "/" + (*listed)[each], reply.code);
      found.emplace_back((*listed)[each], std::move(reply));
    }
  }
  co_return std::move(found);
}

Task<Result<std::vector<ZkAdmin::Providers>>> ZkAdmin::providers(ServiceName service) {
  std::vector<Providers> found;
  // In a list that never rests, the last reading is as good as another.
  bool same = false;
  for (int reading = 0; reading < most_readings && !same; ++reading) {
    found.clear();
    for (const std::string_view folder : {serving_folder, unavailable_folder}) {
      std::string path = layout_.service(service) + "/" + std::string(folder);
      auto read = co_await nodes(path);
      if (!read.ok()) co_return std::move(read).error();
      found.push_back({std::move(path), folder == serving_folder, std::move(*read)});
    }
    same = true;
    for (const Providers& before : found) {
      auto now = co_await names(before.path);
      if (!now.ok()) co_return std::move(now).error();
      same = same && std::equal(now->begin(), now->end(), before.nodes.begin(), before.nodes.end(),
                                [](const std::string& name, const auto& node) { return name == node.first; });
    }
  }
  co_return std::move(found);
}

Task<Result<std::vector<ServiceName>>> ZkAdmin::services() {
  auto connected = co_await connect();
  if (!connected.ok()) co_return std::move(connected).error();
  std::vector<ServiceName> found;
  auto groups = co_await names(layout_.root());
  if (!groups.ok()) co_return std::move(groups).error();
  for (const std::string& group : *groups) {
    auto interfaces = co_await names(layout_.group(group));
    if (!interfaces.ok()) co_return std::move(interfaces).error();
    for (const std::string& interface : *interfaces) {
      if (interface == command_node) continue;
      ServiceName service{interface, group, ""};
      auto added = co_await add_versions(layout_.service(service), service, found);
      if (!added.ok()) co_return std::move(added).error();
    }
  }
  co_return std::move(found);
}

// Versions are known from the providers only.
Task<Result<void>> ZkAdmin::add_versions(std::string path, ServiceName service, std::vector<ServiceName>& found) {
  auto folders = co_await names(path);
  if (!folders.ok()) co_return std::move(folders).error();
  const auto has = [&](std::string_view name) {
    return std::find(folders->begin(), folders->end(), name) != folders->end();
  };
  if (!has(serving_folder) && !has(unavailable_folder) && !has(client_folder)) co_return Result<void>();
  std::vector<std::string> versions;
  for (const std::string_view folder : {serving_folder, unavailable_folder}) {
    if (!has(folder)) continue;
    auto providers = co_await nodes(path + "/" + std::string(folder));
    if (!providers.ok()) co_return std::move(providers).error();
    for (const auto& [name, reply] : *providers)
      if (const auto node = read_provider(reply.data, name); node.ok() && !node->withdrawn)
        versions.push_back(node->version);
  }
  if (versions.empty()) versions.emplace_back();
  std::sort(versions.begin(), versions.end());
  versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
  // Who says none means the default: one service with those who say that.
  const bool said = std::find(versions.begin(), versions.end(), default_version) != versions.end();
  if (said && versions.front().empty()) versions.erase(versions.begin());
  for (std::string& version : versions) {
    service.version = std::move(version);
    found.push_back(service);
  }
  co_return Result<void>();
}

Task<Result<std::vector<Instance>>> ZkAdmin::instances(const ServiceName& service) { return list_instances(service); }

Task<Result<std::vector<Instance>>> ZkAdmin::list_instances(ServiceName service) {
  if (auto checked = check_service(service); !checked.ok()) co_return std::move(checked).error();
  auto connected = co_await connect();
  if (!connected.ok()) co_return std::move(connected).error();
  std::vector<Instance> found;
  auto folders = co_await providers(service);
  if (!folders.ok()) co_return std::move(folders).error();
  for (const Providers& folder : *folders)
    for (const auto& [name, reply] : folder.nodes) {
      auto node = read_provider(reply.data, name);
      if (!node.ok() || node->withdrawn || !same_version(node->version, service.version)) continue;
      node->instance.serving = node->serves(folder.serves);
      found.push_back(std::move(node->instance));
    }
  co_return std::move(found);
}

Task<Result<std::vector<Subscriber>>> ZkAdmin::subscribers(const ServiceName& service) {
  return list_subscribers(service);
}

Task<Result<std::vector<Subscriber>>> ZkAdmin::list_subscribers(ServiceName service) {
  if (auto checked = check_service(service); !checked.ok()) co_return std::move(checked).error();
  auto connected = co_await connect();
  if (!connected.ok()) co_return std::move(connected).error();
  auto consumers = co_await nodes(layout_.service(service) + "/" + std::string(client_folder));
  if (!consumers.ok()) co_return std::move(consumers).error();
  std::vector<Subscriber> found;
  for (const auto& [name, reply] : *consumers) found.push_back(read_consumer(reply.data, name));
  co_return std::move(found);
}

Task<Result<std::vector<std::string>>> ZkAdmin::groups() {
  auto connected = co_await connect();
  if (!connected.ok()) co_return std::move(connected).error();
  auto below = co_await names(layout_.root());
  if (!below.ok()) co_return std::move(below).error();
  std::vector<std::string> found;
  for (const std::string& group : *below) {
    auto is = co_await is_group(layout_.group(group));
    if (!is.ok()) co_return std::move(is).error();
    if (*is) found.push_back(group);
  }
  co_return std::move(found);
}

Task<Result<bool>> ZkAdmin::is_group(std::string path) {
  auto services = co_await names(path);
  if (!services.ok()) co_return std::move(services).error();
  for (const std::string& service : *services)
    if (service == command_node) co_return true;
  for (const std::string& service : *services) {
    auto folders = co_await names(path + "/" + service);
    if (!folders.ok()) co_return std::move(folders).error();
    for (const std::string& folder : *folders)
      if (folder == serving_folder || folder == unavailable_folder || folder == client_folder) co_return true;
  }
  co_return false;
}

Task<Result<Document>> ZkAdmin::read(const std::string& kind, const std::string& group) {
  return read_document(kind, group);
}

Task<Result<Document>> ZkAdmin::read_document(std::string kind, std::string group) {
  if (auto checked = check_document(kind, group); !checked.ok()) co_return std::move(checked).error();
  auto connected = co_await connect();
  if (!connected.ok()) co_return std::move(connected).error();
  const std::string path = layout_.document(kind, group);
  const Reply reply = co_await session_.get(path, false);
  Document document{kind, group, "", 0};
  if (reply.code == ZNONODE) co_return std::move(document);
  if (!reply.ok()) co_return failure("cannot read " + path, reply.code);
  auto text = read_node_text(reply.data);
  if (!text.ok()) co_return std::move(text).error().prefix(path);
  document.text = std::move(text->text);
  document.version = static_cast<std::uint64_t>(reply.stat.mzxid);
  co_return std::move(document);
}

Task<Result<void>> ZkAdmin::write(const Document& document) { return write_document(document); }

Task<Result<void>> ZkAdmin::write_document(Document document) {
  if (auto checked = check_document(document.kind, document.group); !checked.ok()) co_return std::move(checked).error();
  if (document.text.size() > largest_text)
    co_return Error(Errc::too_large,
                    "a document of " + std::to_string(document.text.size()) + " bytes; ZooKeeper takes at most 1000000",
                    Delivery::not_run, Advice::never);
  auto connected = co_await connect();
  if (!connected.ok()) co_return std::move(connected).error();
  const std::string path = layout_.document(document.kind, document.group);
  const Reply reply = co_await session_.get(path, false);
  if (reply.code == ZNONODE) {
    auto created = co_await create_document(path, document);
    co_return std::move(created);
  }
  if (!reply.ok()) co_return failure("cannot read " + path, reply.code);
  if (document.version != static_cast<std::uint64_t>(reply.stat.mzxid)) co_return conflict(path);
  TextEncoding encoding = TextEncoding::plain;
  if (const auto old = read_node_text(reply.data); old.ok() && !reply.data.empty())
    encoding = old->encoding;
  else
    encoding = co_await encoding_for(document.group);
  const std::string data = write_node_text(document.text, encoding);
  const Reply written = co_await session_.set(path, data, reply.stat.version);
  if (written.code == ZBADVERSION || written.code == ZNONODE) co_return conflict(path);
  if (!written.ok()) co_return failure("cannot write " + path, written.code);
  co_return Result<void>();
}

Task<Result<void>> ZkAdmin::create_document(std::string path, Document document) {
  if (document.version != 0) co_return conflict(path);
  const TextEncoding encoding = co_await encoding_for(document.group);
  const std::string data = write_node_text(document.text, encoding);
  int code = co_await make_path(session_, std::string(parent_of(path)));
  if (code == ZOK) {
    const Reply created = co_await session_.create(path, data);
    code = created.code;
  }
  if (code == ZNODEEXISTS) co_return conflict(path);
  if (code != ZOK) co_return failure("cannot create " + path, code);
  co_return Result<void>();
}

Task<Result<void>> ZkAdmin::remove(const Document& document) { return remove_document(document); }

Task<Result<void>> ZkAdmin::remove_document(Document document) {
  if (auto checked = check_document(document.kind, document.group); !checked.ok()) co_return std::move(checked).error();
  auto connected = co_await connect();
  if (!connected.ok()) co_return std::move(connected).error();
  const std::string path = layout_.document(document.kind, document.group);
  const Reply seen = co_await session_.exists(path, false);
  if (seen.code == ZNONODE) co_return Error(Errc::not_found, path + " is not there", Delivery::not_run);
  if (!seen.ok()) co_return failure("cannot look at " + path, seen.code);
  if (document.version != static_cast<std::uint64_t>(seen.stat.mzxid)) co_return conflict(path);
  Reply done = co_await session_.remove(path, seen.stat.version);
  const std::string nothing;
  if (done.code == ZNOTEMPTY) done = co_await session_.set(path, nothing, seen.stat.version);
  if (done.code == ZBADVERSION || done.code == ZNONODE) co_return conflict(path);
  if (!done.ok()) co_return failure("cannot remove " + path, done.code);
  co_return Result<void>();
}

// A group with nodes in Java's serialisation has members that cannot read anything else.
Task<TextEncoding> ZkAdmin::encoding_for(std::string group) {
  if (encoding_ == CommandEncoding::java) co_return TextEncoding::java;
  if (encoding_ == CommandEncoding::plain) co_return TextEncoding::plain;
  const std::string path = layout_.group(group);
  std::size_t samples = 0;
  const auto services = co_await names(path);
  if (!services.ok()) co_return TextEncoding::plain;
  for (const std::string& service : *services) {
    for (const std::string_view folder : {client_folder, serving_folder, unavailable_folder}) {
      const std::string place = path + "/" + service + "/" + std::string(folder);
      const auto listed = co_await names(place);
      if (!listed.ok()) continue;
      for (const std::string& name : *listed) {
        if (++samples > most_samples) co_return TextEncoding::plain;
        const Reply reply = co_await session_.get(place + "/" + name, false);
        const auto text = read_node_text(reply.data);
        if (text.ok() && text->encoding == TextEncoding::java) co_return TextEncoding::java;
      }
    }
  }
  co_return TextEncoding::plain;
}

Task<Result<void>> ZkAdmin::set_weight(const ServiceName& service, const std::string& id, std::uint32_t weight) {
  return change(service, id, [weight](std::string_view data, std::string_view name, bool) {
    return with_weight(data, name, weight);
  });
}

Task<Result<void>> ZkAdmin::set_serving(const ServiceName& service, const std::string& id, bool serving) {
  return change(service, id, [serving](std::string_view data, std::string_view name, bool folder_serves) {
    return with_serving(data, name, serving == folder_serves ? std::nullopt : std::optional(serving));
  });
}

Task<Result<void>> ZkAdmin::change(ServiceName service, std::string id, Change what) {
  if (auto checked = check_service(service); !checked.ok()) co_return std::move(checked).error();
  auto connected = co_await connect();
  if (!connected.ok()) co_return std::move(connected).error();
  const std::string missing = service.text() + " has no instance " + id;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    std::string path;
    std::string data;
    bool news = false;
    int version = -1;
    auto folders = co_await providers(service);
    if (!folders.ok()) co_return std::move(folders).error();
    for (const Providers& folder : *folders)
      for (const auto& [name, reply] : folder.nodes) {
        const auto node = read_provider(reply.data, name);
        if (!node.ok() || node->withdrawn || node->instance.id != id || !same_version(node->version, service.version))
          continue;
        auto changed = what(reply.data, name, folder.serves);
        if (!changed.ok()) co_return std::move(changed).error();
        path = folder.path + "/" + name;
        news = *changed != reply.data;
        data = std::move(*changed);
        version = reply.stat.version;
      }
    if (path.empty()) co_return Error(Errc::not_found, missing, Delivery::not_run);
    if (!news) co_return Result<void>();
    const Reply written = co_await session_.set(path, data, version);
    if (written.ok()) co_return Result<void>();
    // It changed meanwhile: look again.
    if (written.code != ZBADVERSION && written.code != ZNONODE) co_return failure("cannot write " + path, written.code);
  }
  co_return Error(Errc::unavailable, service.text() + ": instance " + id + " changes all the time; try again",
                  Delivery::not_run);
}

}  // namespace tenon::zk
