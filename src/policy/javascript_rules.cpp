#include "policy/javascript_rules.hpp"

#include <array>

namespace skerry::policy {
namespace {

using core::RiskLevel;
using enum RiskLevel;
using enum When;

constexpr Rule kEval{"javascript.eval", kCritical, "Runs text as code."};
constexpr Rule kChildProcess{"javascript.child-process", kCritical, "Starts other programs."};
constexpr Rule kVirtualMachine{"javascript.vm", kCritical,
                               "Runs text as code in a context of its own, which is no sandbox."};
constexpr Rule kInternals{"javascript.internals", kCritical, "Reaches for the runtime's internals or native code."};
constexpr Rule kDynamicRequire{"javascript.dynamic-require", kHigh, "Loads a module that is only named when it runs."};
constexpr Rule kFiles{"javascript.files", kHigh, "Reads, writes or deletes files."};
constexpr Rule kNetwork{"javascript.network", kHigh, "Talks to the network."};
constexpr Rule kWorkers{"javascript.workers", kHigh, "Runs code in further threads or processes."};
constexpr Rule kWasi{"javascript.wasi", kHigh, "Lets WebAssembly, which is not analysed, reach files."};
constexpr Rule kSignal{"javascript.signal", kHigh, "Sends signals to processes."};
constexpr Rule kEnvironment{"javascript.environment", kMedium, "Reads or changes environment variables."};
constexpr Rule kWebAssembly{"javascript.webassembly", kMedium, "Runs WebAssembly, which is not analysed."};

// One row for each rule; see NameRow for how paths are written.
constexpr std::array kRows = {
    // critical
    NameRow{kUsed, "globalThis.eval globalThis.execScript", kEval},
    NameRow{
        kCalled,
        "globalThis.Function globalThis.AsyncFunction globalThis.GeneratorFunction globalThis.AsyncGeneratorFunction",
        kEval},
    NameRow{kUsed, "globalThis.Function.prototype.constructor globalThis.Function.constructor", kEval},
    NameRow{kHandedOn, "globalThis.Function", kEval},
    NameRow{kHandedOn, "globalThis.require", kDynamicRequire},
    NameRow{kImported, "jiti ts-node esm pirates import-fresh tsx/cjs/api tsx/esm/api @babel/register",
            kDynamicRequire},
    NameRow{kRunsCode,
            "globalThis.eval globalThis.Function globalThis.execScript vm.runInNewContext vm.runInThisContext "
            "vm.runInContext "
            "vm.Script vm.compileFunction globalThis.module._compile globalThis.require.main._compile",
            kNoRule},
    NameRow{kImported,
            "child_process execa shelljs cross-spawn zx node-pty sudo-prompt spawn-sync exec-sh tinyexec nano-spawn "
            "foreground-child simple-git node-cmd child-process-promise promisify-child-process",
            kChildProcess},
    NameRow{kUsed,
            "child_process.* globalThis.Deno.run globalThis.Deno.Command globalThis.Bun.spawn globalThis.Bun.spawnSync "
            "globalThis.Bun.$ globalThis.process.execve",
            kChildProcess},
    NameRow{kMethod, "execSync spawnSync execFileSync execFile", kChildProcess},
    NameRow{kRunsShell, "child_process.exec child_process.execSync shelljs.exec execa.command execa.execaCommand",
            kNoRule},
    NameRow{kRunsArgv, "child_process.spawn child_process.spawnSync child_process.execFile child_process.execFileSync",
            kNoRule},
    NameRow{kImported, "vm vm2 isolated-vm repl require-from-string node-eval safe-eval", kVirtualMachine},
    NameRow{kUsed, "vm.* repl.* globalThis.ShadowRealm", kVirtualMachine},
    NameRow{
        kUsed,
        "globalThis.process.binding globalThis.process._linkedBinding globalThis.process.dlopen "
        "globalThis.process.mainModule "
        "globalThis.module._load globalThis.module.constructor globalThis.require.extensions module._load "
        "module.Module "
        "module._extensions globalThis.process.setuid globalThis.process.seteuid "
        "globalThis.process.getBuiltinModule.() globalThis.process.setgid globalThis.process.setegid "
        "globalThis.process.setgroups globalThis.process.initgroups globalThis.process._debugProcess "
        "globalThis.module._compile globalThis.module.load globalThis.module.children globalThis.require.main._compile "
        "globalThis.require.main.load globalThis.require.main.children module.register module.registerHooks "
        "module.runMain module.prototype.* module._cache module._initPaths module._preloadModules "
        "module._resolveFilename module._findPath v8.setFlagsFromString crypto.setEngine inspector.* "
        "globalThis.Deno.dlopen",
        kInternals},
    // new (require('module')): the object has a method that runs a text.
    NameRow{kCalled, "module", kInternals},
    NameRow{kMember, "_load _linkedBinding", kInternals},
    NameRow{kMethod, "loadExtension enableLoadExtension", kInternals},
    NameRow{kImported, "ffi ffi-napi koffi node-ffi ref-napi bindings node-gyp-build inspector bun:ffi", kInternals},
    // high
    NameRow{kImported, "fs fs-extra graceful-fs rimraf del mkdirp chokidar memfs", kFiles},
    NameRow{kUsed, "fs.* v8.writeHeapSnapshot v8.setHeapSnapshotNearHeapLimit globalThis.process.report.writeReport",
            kFiles},
    NameRow{
        kMethod,
        "writeFile writeFileSync appendFile appendFileSync unlinkSync rmSync rmdirSync renameSync "
        "createWriteStream readFileSync "
        "createReadStream openSync writeSync writevSync cpSync copyFileSync mkdirSync mkdtempSync symlinkSync linkSync "
        "chmodSync chownSync lchownSync truncateSync ftruncateSync utimesSync",
        kFiles},
    NameRow{
        kUsed,
        "globalThis.Deno.readFile globalThis.Deno.writeFile globalThis.Deno.readTextFile globalThis.Deno.writeTextFile "
        "globalThis.Deno.remove globalThis.Deno.removeSync globalThis.Deno.readFileSync globalThis.Deno.writeFileSync "
        "globalThis.Deno.readTextFileSync globalThis.Deno.writeTextFileSync globalThis.Deno.open "
        "globalThis.Deno.openSync "
        "globalThis.Deno.create globalThis.Deno.rename globalThis.Deno.copyFile globalThis.Bun.write "
        "globalThis.Bun.file",
        kFiles},
    NameRow{kImported,
            "http https http2 net tls dgram dns axios node-fetch got undici ws superagent request needle socket.io "
            "socket.io-client "
            "nodemailer ssh2 ftp basic-ftp cross-fetch isomorphic-fetch express fastify koa puppeteer puppeteer-core "
            "playwright "
            "playwright-core selenium-webdriver @aws-sdk/client-s3 ky phin _http_agent _http_client _http_server "
            "_tls_wrap dockerode",
            kNetwork},
    NameRow{kUsed, "http.* https.* http2.* net.* tls.* dgram.* dns.* axios.*", kNetwork},
    NameRow{kCalled,
            "globalThis.fetch globalThis.XMLHttpRequest globalThis.WebSocket globalThis.EventSource "
            "globalThis.importScripts "
            "globalThis.navigator.sendBeacon globalThis.Deno.connect globalThis.Deno.listen globalThis.Bun.serve axios "
            "globalThis.Deno.connectTls globalThis.Deno.listenTls globalThis.Deno.serve globalThis.Bun.listen "
            "globalThis.Bun.connect globalThis.WebTransport globalThis.WebSocketStream globalThis.RTCPeerConnection",
            kNetwork},
    // The last three modules start programs; they are also words with other meanings, so they must not be critical.
    NameRow{kImported, "worker_threads cluster piscina tinypool workerpool synckit npm open opn", kWorkers},
    NameRow{kUsed, "worker_threads.* cluster.* test.run", kWorkers},
    NameRow{kCalled, "globalThis.Worker globalThis.SharedWorker globalThis.navigator.serviceWorker.register", kWorkers},
    NameRow{kKnown, "worker_threads.Worker", kNoRule},
    NameRow{kImported, "wasi", kWasi},
    NameRow{kUsed, "wasi.*", kWasi},
    NameRow{kUsed, "globalThis.process.kill globalThis.process._kill globalThis.process.abort globalThis.Deno.kill",
            kSignal},
    // medium
    NameRow{kUsed, "globalThis.process.env globalThis.process.loadEnvFile globalThis.Deno.env globalThis.Bun.env",
            kEnvironment},
    NameRow{kUsed, "globalThis.WebAssembly.*", kWebAssembly},
    // Other paths to the same names.
    NameRow{
        kSameAs,
        "globalThis.globalThis globalThis.window globalThis.global globalThis.self globalThis.top globalThis.frames",
        SameAs("globalThis")},
    NameRow{kSameAs,
            "globalThis.module.require globalThis.process.mainModule.require globalThis.process.getBuiltinModule "
            "globalThis.require.main.require globalThis.module.parent.require "
            "module.createRequire.() module.default.createRequire.()",
            SameAs("globalThis.require")},
    NameRow{kSameAs, "process", SameAs("globalThis.process")},
    NameRow{kSameAs, "bun", SameAs("globalThis.Bun")},
    // The constructor of a function, and the object that it inherits from.
    NameRow{kSameAs, "globalThis.Function.().constructor", SameAs("globalThis.Function")},
    NameRow{kSameAs, "globalThis.Function.().__proto__", SameAs("globalThis.Function.prototype")},
    // `node -e` has all of these modules as globals.
    NameRow{
        kAmbient,
        "fs child_process http https http2 net tls dgram dns vm repl inspector cluster worker_threads v8 wasi crypto",
        kNoRule},
    NameRow{kKnown,
            "globalThis.require globalThis.setTimeout globalThis.setInterval globalThis.setImmediate globalThis.atob "
            "globalThis.String.fromCharCode globalThis.String.fromCodePoint "
            "globalThis.Buffer.from globalThis.Reflect.get globalThis.Reflect.construct globalThis.Reflect.apply "
            "module.createRequire globalThis.require.resolve globalThis.Function.() globalThis.Object.getPrototypeOf "
            "globalThis.Reflect.getPrototypeOf globalThis.Object.getOwnPropertyDescriptor",
            kNoRule},
};

}  // namespace

const Rule kJavaScriptEval = kEval;
const Rule kJavaScriptDynamicRequire = kDynamicRequire;
const Rule kJavaScriptHiddenName{"javascript.hidden-name", kCritical, "Puts a name together that hides what it is."};
const Rule kJavaScriptReflection{"javascript.reflection", kHigh,
                                 "Asks for a global by a name that is only known when it runs."};
const RuleByLevel kJavaScriptOrganisationModule = OrganisationModule("javascript.organisation");

const Names& JavaScriptNames() {
  static const Names names(kRows);
  return names;
}

}  // namespace skerry::policy
