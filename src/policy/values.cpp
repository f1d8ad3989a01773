#include "policy/values.hpp"

#include <algorithm>

namespace skerry::policy {
namespace {

constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kMaxPool = 4U << 20U;
constexpr std::size_t kMaxNames = 16;  // in a set
constexpr std::size_t kMaxTexts = 8;
constexpr std::size_t kMaxSets = 1U << 16U;
constexpr std::size_t kMemoryOfAnEntry = 64;  // of a hash table, besides its content
constexpr int kMaxDepth = 150;                // of scopes in scopes
constexpr int kMaxScopes = 200;  // that are searched; beyond them, a name can be anything that it can be outside

}  // namespace

Value ValuePool::Text(std::string text) {
  if (text.size() > kMaxText || bytes_ + text.size() > kMaxPool) return {};
  bytes_ += text.size() + sizeof(std::string);
  budget_.Spend(WorkOfCopying(text.size()));
  memory_.Add(text.size() + sizeof(std::string));
  texts_.push_back(std::move(text));
  return {Value::Kind::kText, static_cast<std::uint32_t>(texts_.size() - 1)};
}

Value ValuePool::Either(Value a, Value b) {
  if (a == b || b.kind == Value::Kind::kUnknown) return a;
  if (a.kind == Value::Kind::kUnknown) return b;
  std::vector<Value> all;
  std::size_t texts = 0;
  budget_.Spend(kWorkOfALookup);
  const auto add = [&](Value each) {
    const bool is_text = each.kind == Value::Kind::kText || each.kind == Value::Kind::kLiteral;
    budget_.Spend(2 + all.size());
    if (is_text && texts >= kMaxTexts) each = kSomeText;
    if ((!is_text && all.size() - texts >= kMaxNames) || std::ranges::find(all, each) != all.end()) return;
    texts += is_text ? 1 : 0;
    all.push_back(each);
  };
  ForEach(a, add);
  ForEach(b, add);
  if (a.kind == Value::Kind::kMany && all == sets_[a.id]) return a;
  if (sets_.size() >= kMaxSets) return a.kind == Value::Kind::kName || a.kind == Value::Kind::kMany ? a : b;
  memory_.Add(sizeof(std::vector<Value>) + all.capacity() * sizeof(Value));
  sets_.push_back(std::move(all));
  return {Value::Kind::kMany, static_cast<std::uint32_t>(sets_.size() - 1)};
}

Scope Bindings::AddScope(Scope parent, ScopeKind kind) {
  scopes_.push_back({parent, kind});
  return static_cast<Scope>(scopes_.size() - 1);
}

Scope Bindings::Open(Scope parent, ScopeKind kind) {
  int depth = 0;
  for (Scope scope = parent; scope != 0; scope = Parent(scope))
    if (++depth > kMaxDepth) break;
  budget_.Spend(kWorkOfALookup + static_cast<std::uint64_t>(depth) * kWorkOfAStep);
  return depth > kMaxDepth ? parent : AddScope(parent, kind);
}

Bindings::Binding* Bindings::Find(Scope scope, std::string_view name) {
  budget_.Spend(kWorkOfALookup + longest_ + WorkOfCopying(name.size()));
  const auto found = bindings_.find({scope, name});
  return found == bindings_.end() ? nullptr : &found->second;
}

Bindings::Binding& Bindings::At(Scope scope, std::string_view name) {
  budget_.Spend(kWorkOfALookup + longest_ + WorkOfCopying(name.size()));
  const auto [found, is_new] = bindings_.try_emplace({scope, name});
  if (!is_new) return found->second;
  memory_.Add(kMemoryOfAnEntry + sizeof(*found));
  longest_ = std::max(longest_, bindings_.bucket_size(bindings_.bucket(found->first)));
  return found->second;
}

void Bindings::CountBound(std::string_view name) {
  budget_.Spend(longest_);
  if (++bound_[name] > 1) return;
  memory_.Add(kMemoryOfAnEntry + sizeof(std::string_view));
  longest_ = std::max(longest_, bound_.bucket_size(bound_.bucket(name)));
}

void Bindings::Declare(Scope scope, std::string_view name, std::uint32_t sure_from) {
  Binding& binding = At(scope, name);
  binding.sure_from = std::min(binding.sure_from, sure_from);
  CountBound(name);
}

void Bindings::Undeclare(Scope scope, std::string_view name) {
  At(scope, name).deleted = true;
  CountBound(name);
}

void Bindings::Redirect(Scope scope, std::string_view name, Scope to) {
  At(scope, name).redirect = to;
  CountBound(name);
}

bool Bindings::Assign(Scope scope, std::string_view name, Value value) {
  Binding* binding = Find(scope, name);
  if (binding != nullptr && binding->redirect) binding = &At(*binding->redirect, name);
  if (binding == nullptr) binding = &At(scope, name);
  const Value before = binding->value;
  binding->value = pool_.Either(before, value);
  return binding->looked_up && binding->value != before;
}

Scope Bindings::Declaring(Scope scope, std::string_view name) {
  for (int steps = 0; steps < kMaxScopes && scope != 0; ++steps, scope = scopes_[scope].parent)
    if (Find(scope, name) != nullptr) return scope;
  return 0;
}

Bindings::Found Bindings::Lookup(Scope scope, std::string_view name, std::uint32_t at) {
  Found result;
  budget_.Spend(kWorkOfALookup + longest_ + WorkOfCopying(name.size()));
  if (!bound_.contains(name)) return result;
  const Scope start = scope;
  for (int steps = 0; steps < kMaxScopes; ++steps, scope = scopes_[scope].parent) {
    const Place& place = scopes_[scope];
    const bool hidden = place.kind == ScopeKind::kClass && scope != start;
    Binding* binding = hidden ? nullptr : Find(scope, name);
    if (binding != nullptr && !binding->redirect) {
      binding->looked_up = true;
      result.value = pool_.Either(result.value, binding->value);
      const bool sure = place.kind == ScopeKind::kFunction || (binding->sure_from <= at && !binding->deleted);
      if (sure) {
        result.may_be_outer = false;
        return result;
      }
    }
    if (place.parent == scope) break;
  }
  return result;
}

}  // namespace skerry::policy
