// Places: which clients may have a connection, and which one gives it up for another client. Pure.
//
//  - The owner, at the unix socket, has places that no other client can take.
//  - A stranger is a client that has shown no token yet: there are few places for strangers. When these are used up,
//    the oldest stranger of the address that has the most gives way to the newcomer, who needs a moment to show a
//    token.
//  - A client that has shown a token is never sent away for a stranger; a tenant has a share of the places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace skerry::transport::http {

struct PlacesOptions {
  std::size_t all = 1024;
  std::size_t per_peer = 512;    // of one uid, or of one address without the clients that have shown a token
  std::size_t per_tenant = 256;  // of clients that have shown a token
  std::size_t strangers = 256;
  std::size_t for_owner = 128;  // of all places, at the unix socket only
};
// Options as shares of `all`; at least one place of each kind.
PlacesOptions SharesOf(std::size_t all, std::size_t per_peer);

// For one thread.
class Places {
 public:
  using Id = std::uint64_t;
  enum class Door { kOwner, kStranger };  // the unix socket, any other

  explicit Places(PlacesOptions options) : options_(options) {}

  struct Entry {
    std::optional<Id> id;      // none: there is no free place
    std::optional<Id> leaves;  // the connection that has to be closed for this one; it holds no place any more
  };
  Entry Enter(Door door, const std::string& peer);
  // The connection has shown a token of this tenant. False: the tenant has too many places already, and the connection
  // stays a stranger.
  bool Show(Id id, const std::string& tenant);
  // The connection has shown a wrong token, or none: it is a stranger again.
  void Distrust(Id id);
  void Leave(Id id);

  [[nodiscard]] std::size_t size() const { return held_.size(); }
  [[nodiscard]] std::size_t strangers() const { return strangers_; }

 private:
  struct Place {
    Door door = Door::kStranger;
    std::string peer;
    std::string tenant;
    bool known = false;
    [[nodiscard]] bool IsStranger() const { return door == Door::kStranger && !known; }
  };
  using Counts = std::map<std::string, std::size_t>;
  [[nodiscard]] bool HasRoom(Door door) const;
  [[nodiscard]] std::optional<Id> OldestStranger(const std::string* peer) const;
  static std::size_t CountOf(const Counts& counts, const std::string& name);
  static void Drop(Counts& counts, const std::string& name);

  PlacesOptions options_;
  std::map<Id, Place> held_;  // the oldest first
  Counts per_peer_;
  Counts strangers_of_;  // by peer
  Counts per_tenant_;
  std::size_t strangers_ = 0;
  std::size_t owners_ = 0;
  Id next_ = 1;
};

}  // namespace skerry::transport::http
