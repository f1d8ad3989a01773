// The rules for JavaScript and TypeScript (S2.5): which names, used how, are how grave.
#pragma once

#include "policy/names.hpp"

namespace skerry::policy {

// `globalThis` is the root of the language's own names; the others are modules.
const Names& JavaScriptNames();

// Rules that more than the mention of a name breaks.
extern const Rule kJavaScriptEval;
extern const Rule kJavaScriptDynamicRequire;
extern const Rule kJavaScriptHiddenName;
extern const Rule kJavaScriptReflection;
extern const RuleByLevel kJavaScriptOrganisationModule;

}  // namespace skerry::policy
