#include "interpreters/interpreter.hpp"

#include <unistd.h>

#include <array>
#include <string_view>

namespace skerry::interpreters {
namespace {

// The text runs as `__main__` with the working directory first on the path, as with `python3 -c`. A traceback shows the
// lines of the program and none of the loader.
constexpr std::string_view kPythonLoader = R"python(
def load():
    import sys
    import __main__
    with open(3, 'rb') as file:
        source = file.read()
    scope = __main__.__dict__
    del scope['load']
    def show(kind, value, trace):
        import linecache, traceback
        lines = source.decode('utf-8', 'replace').splitlines(True)
        linecache.cache['<code>'] = (len(source), None, lines, '<code>')
        while trace is not None and trace.tb_frame.f_code.co_filename == '<string>':
            trace = trace.tb_next
        traceback.print_exception(kind, value, trace)
    sys.excepthook = show
    exec(compile(source, '<code>', 'exec', dont_inherit=True), scope)
load()
)python";

// Runs the text as CommonJS, like a file in the working directory; a text that is only valid as a module runs as a
// module.
constexpr std::string_view kJavaScriptLoader = R"javascript(
const fs = require('fs'), path = require('path'), url = require('url'), vm = require('vm');
const Module = require('module');
const source = fs.readFileSync(3, 'utf8');
fs.closeSync(3);
const filename = path.join(process.cwd(), '<code>');
process.argv.splice(1, 0, filename);
const isModule = (() => {
  try { new vm.Script(Module.wrap(source), { filename }); return false; }
  catch (error) {
    return error instanceof SyntaxError &&
      /import statement|import\.meta|Unexpected token 'export'|await is only valid/.test(error.message);
  }
})();
const runModule = async () => {
  const from = Module.createRequire(filename);
  const load = async (name) => {
    if (name.startsWith('node:') || Module.builtinModules.includes(name) || /^[a-z]+:/.test(name)) return import(name);
    return import(url.pathToFileURL(from.resolve(name)).href);
  };
  const emitWarning = process.emitWarning;
  process.emitWarning = (text, ...rest) =>
    /VM Modules/.test(String(text)) ? undefined : emitWarning.call(process, text, ...rest);
  const main = new vm.SourceTextModule(source, {
    identifier: filename, importModuleDynamically: load,
    initializeImportMeta(meta) { meta.url = url.pathToFileURL(filename).href; meta.filename = filename; meta.dirname = process.cwd(); },
  });
  process.emitWarning = emitWarning;
  await main.link(async (name) => {
    const namespace = await load(name);
    const names = Object.keys(namespace);
    return new vm.SyntheticModule(names, function () { for (const key of names) this.setExport(key, namespace[key]); });
  });
  await main.evaluate();
};
if (isModule) {
  runModule().catch((error) => { process.exitCode = 1; console.error(error); });
} else {
  const main = new Module(filename, null);
  main.filename = filename;
  main.paths = Module._nodeModulePaths(process.cwd());
  process.mainModule = main;
  require.main = main;
  main._compile(source, filename);
}
)javascript";

// Bash runs descriptor 3 as a script, which first closes that descriptor, on the same line as the text's first line.
constexpr std::string_view kShellPrologue = "exec 3<&-; ";

constexpr std::array<std::string_view, 3> kDirectories = {"/usr/local/bin/", "/usr/bin/", "/bin/"};

std::string_view ProgramOf(core::Language language) {
  switch (language) {
    case core::Language::kPython:
      return "python3";
    case core::Language::kJavaScript:
      return "node";
    case core::Language::kShell:
      return "bash";
  }
  return "";
}

}  // namespace

Invocation InvocationFor(const core::Code& code) {
  const std::string program(ProgramOf(code.language));
  switch (code.language) {
    case core::Language::kPython:
      return {{program, "-c", std::string(kPythonLoader)}, code.text};
    case core::Language::kJavaScript:
      return {{program, "--experimental-vm-modules", "-e", std::string(kJavaScriptLoader)}, code.text};
    case core::Language::kShell:
      return {{program, "/dev/fd/3"}, std::string(kShellPrologue) + code.text};
  }
  return {};
}

std::vector<std::string> WaitingShell() {
  return {"bash", "-c", "read -r -u 4 && exec 4<&- && . /dev/fd/3", "/dev/fd/3"};
}

std::string TextForWaitingShell(std::string_view text) {
  return std::string(kShellPrologue) + std::string(text);
}

std::string Requirement(core::Language language) {
  switch (language) {
    case core::Language::kPython:
      return "python3 (Debian package python3)";
    case core::Language::kJavaScript:
      return "node (Debian package nodejs)";
    case core::Language::kShell:
      return "bash (Debian package bash)";
  }
  return "";
}

std::optional<std::string> FindInterpreter(core::Language language) {
  for (const std::string_view directory : kDirectories) {
    std::string path = std::string(directory) + std::string(ProgramOf(language));
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return std::nullopt;
}

std::vector<std::string> CleanEnvironment(const std::string& home, const std::string& temporary) {
  return {"PATH=/usr/local/bin:/usr/bin:/bin",
          "HOME=" + home,
          "TMPDIR=" + temporary,
          "USER=agent",
          "LOGNAME=agent",
          "SHELL=/bin/bash",
          "LANG=C.UTF-8",
          "TERM=dumb",
          "PYTHONDONTWRITEBYTECODE=1"};
}

}  // namespace skerry::interpreters
