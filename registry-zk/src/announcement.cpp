#include "announcement.hpp"

#include <utility>

#include "provider_node.hpp"

namespace tenon::zk {

namespace {

constexpr int most_rounds = 5;
constexpr Duration patience_without_connection = std::chrono::seconds(1);

std::string node_path(const Layout& layout, const ServiceName& service, std::string_view folder,
                      const std::string& name) {
  return layout.service(service) + "/" + std::string(folder) + "/" + name;
}

}  // namespace

Announcement::Announcement(Session& session, const Layout& layout, ServiceName service, const std::string& name)
    : Reconciler(session, {node_path(layout, service, serving_folder, name),
                           node_path(layout, service, unavailable_folder, name)}),
      clock_(session.clock()),
      service_(std::move(service)),
      serving_path_(node_path(layout, service_, serving_folder, name)),
      unavailable_path_(node_path(layout, service_, unavailable_folder, name)),
      bell_(session.clock()) {}

void Announcement::wish(Wish wish) {
  wish_ = wish;
  ++wished_;
  wake();
}

std::uint64_t Announcement::announce(ServiceName service, Instance instance) {
  service_ = std::move(service);
  instance_ = std::move(instance);
  forget_operator();
  held_ = yields_ = false;
  trouble_ = Error();
  self_ = shared_from_this();
  const std::uint64_t owner = ++owner_;
  wish(Wish::announced);
  return owner;
}

void Announcement::update(std::uint64_t owner, Instance instance) {
  if (owner != owner_ || !wanted()) return;
  instance.id = instance_.id;  // it stays the same instance, at the same place
  instance.address = instance_.address;
  instance_ = std::move(instance);
  forget_operator();
  wish(Wish::announced);
}

void Announcement::withdraw(std::uint64_t owner) {
  if (owner != owner_ || !wanted()) return;
  tombstone_until_ = clock_.now() + tombstone_stays;
  wish(Wish::withdrawn);
}

Error Announcement::trouble() const {
  if (!alive()) return Error(Errc::unavailable, "the registry has been closed", Delivery::not_run);
  if (!connected()) return session()->unavailable();
  if (trouble_) return trouble_;
  return Error(Errc::unavailable, session()->label() + " has not answered in time", Delivery::maybe_run);
}

void Announcement::forget_operator() noexcept {
  operator_weight_.reset();
  operator_serving_.reset();
}

std::string Announcement::text() const {
  Instance instance = instance_;
  if (operator_weight_) instance.weight = *operator_weight_;
  return write_provider(service_, instance, wish_ == Wish::withdrawn);
}

void Announcement::on_new_session() {
  stands_at_.clear();
  // What the session before had is gone with it, tombstone and all.
  if (wish_ == Wish::withdrawn) wish(Wish::gone);
}

void Announcement::on_rest() {
  const std::shared_ptr<Reconciler> self = shared_from_this();
  if (!alive() || (wish_ == Wish::gone && done_ == wished_)) self_.reset();
  if (alive() && wish_ == Wish::withdrawn && done_ == wished_) wake_at(tombstone_until_);
  bell_.ring();
}

Task<bool> Announcement::reconcile() {
  if (wish_ == Wish::withdrawn && clock_.now() >= tombstone_until_) {
    wish_ = Wish::gone;
    ++wished_;
  }
  const std::uint64_t wished = wished_;
  for (int count = 0; count < most_rounds; ++count) {
    const Round ended = co_await round();
    if (ended == Round::failed) co_return false;
    if (ended == Round::look_again) continue;
    // One that has yielded has not got what it wishes, and is told when it can.
    if (yields_) co_return true;
    trouble_ = Error();
    done_ = wished;
    if (done_ == wished_ && wish_ == Wish::announced) held_ = true;
    co_return true;
  }
  co_return false;
}

Task<Announcement::Round> Announcement::round() {
  const Look at_serving = co_await look(serving_path_);
  if (!at_serving.there() && at_serving.code != ZNONODE)
    co_return fail("cannot look at " + serving_path_, at_serving.code);
  const Look at_unavailable = co_await look(unavailable_path_);
  if (!at_unavailable.there() && at_unavailable.code != ZNONODE)
    co_return fail("cannot look at " + unavailable_path_, at_unavailable.code);

  // From here to the change itself nothing is awaited: it is one wish that is fulfilled.
  const bool withdrawn = wish_ == Wish::withdrawn;
  const bool serving = wish_ == Wish::announced && serves();
  const std::string text = this->text();
  std::string target = serving ? serving_path_ : unavailable_path_;
  const Look& there = serving ? at_serving : at_unavailable;
  bool yields = false;
  if (wish_ == Wish::announced)
    for (const Look* each : {&at_serving, &at_unavailable})
      yields = yields || (each->there() && !each->mine && !may_replace(*each));
  if (yields && !yields_) {
    warn(service_.text() + " at " + instance_.address + ": another process (id " +
         (there.id.empty() ? "unknown" : there.id) + ") has announced itself at this address; it has the place now");
    trouble_ =
        Error(Errc::already_exists, service_.text() + ": another process has announced itself at " + instance_.address);
  }
  yields_ = yields;
  // Nothing of ours to put up: only to take down.
  const bool taken = (at_serving.there() && !at_serving.mine) || (at_unavailable.there() && !at_unavailable.mine);
  if (yields || wish_ == Wish::gone || (withdrawn && taken)) target.clear();

  if (!target.empty() && there.there() && there.mine) {
    const Look& other = serving ? at_unavailable : at_serving;
    if (other.there() && other.mine) {
      const Reply removed = co_await session()->remove(serving ? unavailable_path_ : serving_path_);
      co_return removed.ok() || removed.code == ZNONODE ? Round::look_again
                                                        : fail("cannot remove the second node", removed.code);
    }
    if (stands_at_ == target && written_ == text) co_return Round::settled;
    co_return co_await rewrite(target, text, there.version);
  }
  std::vector<Step> steps;
  const auto remove = [&](const Look& look, const std::string& path) {
    // What an operator has written meanwhile is read first.
    if (look.there() && (look.mine || (!target.empty() && !withdrawn)))
      steps.push_back({Step::What::remove, path, std::string(), look.mine ? look.version : -1});
  };
  remove(at_serving, serving_path_);
  remove(at_unavailable, unavailable_path_);
  if (!target.empty()) steps.push_back({Step::What::create_ephemeral, target, text, -1});
  if (steps.empty()) co_return Round::settled;
  co_return co_await apply(std::move(steps), target, text);
}

Task<Announcement::Look> Announcement::look(const std::string& path) {
  Look look;
  const Reply seen = co_await session()->exists(path, true);
  look.code = seen.code;
  if (!seen.ok()) co_return look;
  look.mine = seen.stat.ephemeralOwner == session()->id();
  look.version = seen.stat.version;
  if (look.mine && path == stands_at_ && seen.stat.version == version_) co_return look;
  const Reply read = co_await session()->get(path, true);
  look.code = read.code;
  if (!read.ok()) co_return look;
  look.mine = read.stat.ephemeralOwner == session()->id();
  look.version = read.stat.version;
  if (look.mine) {
    if (path == stands_at_) adopt(read);
  } else if (const auto node = read_provider(read.data, name_of(path)); node.ok()) {
    look.id = node->instance.id;
    look.tomb = node->withdrawn;
  }
  co_return look;
}

// Somebody wrote into our node: an operator's word stays until our owner says something else.
void Announcement::adopt(const Reply& reply) {
  if (reply.stat.version == version_) return;
  version_ = reply.stat.version;
  const auto node = read_provider(reply.data, name_of(stands_at_));
  // What the owner wishes meanwhile comes later, so it goes before.
  if (!node.ok() || done_ != wished_) return;
  operator_weight_ = node->instance.weight;
  operator_serving_ = node->serves(stands_at_ == serving_path_);
  written_ = text();
}

Task<Announcement::Round> Announcement::rewrite(const std::string& path, const std::string& text, int version) {
  const Reply reply = co_await session()->set(path, text, version);
  if (reply.code == ZNONODE || reply.code == ZBADVERSION) co_return Round::look_again;
  if (!reply.ok()) co_return fail("cannot write " + path, reply.code);
  stands_at_ = path;
  written_ = text;
  version_ = reply.stat.version;
  co_return Round::settled;
}

Task<Announcement::Round> Announcement::apply(std::vector<Step> steps, const std::string& target,
                                              const std::string& text) {
  const std::size_t count = steps.size();
  const Reply reply = co_await session()->apply(std::move(steps));
  if (reply.ok()) {
    stands_at_ = target;
    written_ = text;
    version_ = 0;
    co_return Round::settled;
  }
  const bool creating = !target.empty() && reply.failed + 1 == count;
  if (reply.code == ZNONODE && creating) {
    const std::string folder(parent_of(target));
    const int made = co_await make_path(*session(), folder);
    co_return made == ZOK ? Round::look_again : fail("cannot create " + folder, made);
  }
  // Somebody was quicker.
  if (reply.code == ZNONODE || reply.code == ZNODEEXISTS || reply.code == ZBADVERSION) co_return Round::look_again;
  co_return fail("cannot write " + (target.empty() ? serving_path_ : target), reply.code);
}

Announcement::Round Announcement::fail(const std::string& what, int code) {
  trouble_ = failure(what, code);
  if (!is_loss(code)) warn(trouble_.text() + "; trying again");
  return Round::failed;
}

Task<Result<void>> finish_withdrawal(std::shared_ptr<Announcement> announcement, std::uint64_t owner,
                                     TimePoint deadline) {
  TimePoint without = never;  // how long it may be without a connection
  while (!announcement->done(owner)) {
    const TimePoint now = announcement->now();
    if (announcement->connected())
      without = never;
    else if (without == never)
      without = now + patience_without_connection;
    const TimePoint until = std::min(deadline, without);
    if (!announcement->alive() || now >= until)
      co_return announcement->trouble().prefix("the instance stays listed until its session ends");
    (void)co_await announcement->bell().wait(until);
  }
  co_return Result<void>();
}

}  // namespace tenon::zk
