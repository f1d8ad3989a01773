// The rules for Python (S2.3): which names, used how, are how grave.
#pragma once

#include "policy/names.hpp"

namespace skerry::policy {

// `builtins` is the root of the language's own names.
const Names& PythonNames();

// Rules that more than the mention of a name breaks.
extern const Rule kPythonEval;
extern const Rule kPythonReflection;
extern const Rule kPythonEncoding;
extern const Rule kPythonFileRead;
extern const Rule kPythonFileWrite;
extern const Rule kPythonLibraryWrite;
extern const Rule kPythonWriteCall;
extern const Rule kPythonUnpickle;
extern const RuleByLevel kPythonOrganisationModule;

}  // namespace skerry::policy
