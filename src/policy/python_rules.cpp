#include "policy/python_rules.hpp"

#include <array>

namespace skerry::policy {
namespace {

using core::RiskLevel;
using enum RiskLevel;
using enum When;

constexpr Rule kDynamicImport{"python.dynamic-import", kCritical, "Imports a module that is only named when it runs."};
constexpr Rule kBuiltins{"python.builtins", kCritical, "Reaches for the table of all built-in functions."};
constexpr Rule kInternals{"python.internals", kCritical,
                          "Walks the interpreter's own objects to get around a sandbox."};
constexpr Rule kClassWalk{"python.class-walk", kHigh, "Walks the classes that an object is made of."};
constexpr Rule kSystem{"python.system", kCritical, "Runs a command of the operating system."};
constexpr Rule kProcess{"python.process", kCritical, "Starts a process or takes the place of this one."};
constexpr Rule kSubprocess{"python.subprocess", kCritical, "Starts another program."};
constexpr Rule kNativeCode{"python.native-code", kCritical, "Calls machine code, which no rule of Python holds back."};
constexpr Rule kRunsFile{"python.run-file", kCritical, "Runs code from a file or a console."};
constexpr Rule kImportSystem{"python.import-system", kHigh,
                             "Imports a module that reaches the operating system or the interpreter."};
constexpr Rule kUnpickle{"python.unpickle", kHigh, "Loading such data can run any code that is in it."};
constexpr Rule kFileDelete{"python.file-delete", kHigh, "Deletes or renames files."};
constexpr Rule kShutil{"python.shutil", kHigh, "Copies, moves or deletes whole trees of files."};
constexpr Rule kNetwork{"python.network", kHigh, "Talks to the network."};
constexpr Rule kSignal{"python.signal", kHigh, "Sends signals or changes how they are handled."};
constexpr Rule kMemoryMap{"python.memory-map", kHigh, "Maps files or devices into memory."};
constexpr Rule kConcurrency{"python.processes", kMedium, "Runs code in further processes."};
constexpr Rule kWriteCall{"python.write-call", kHigh, "Writes to something that is not known to be harmless."};
constexpr Rule kReadCall{"python.read-call", kMedium, "Reads from something that is not known to be harmless."};
constexpr Rule kJsonLoad{"python.json-load", kMedium, "Reads data from a file."};
constexpr Rule kDataRead{"python.data-read", kMedium, "Reads a file through a library."};
constexpr Rule kEnvironment{"python.environment", kMedium, "Reads or changes environment variables."};

constexpr auto kNone = Rule{};
constexpr Rule SameAs(std::string_view path) {
  return {.id = path};
}

// A row a rule; see NameRow for how paths are written.
constexpr std::array kRows = {
    // critical
    NameRow{kUsed,
            "builtins.eval builtins.exec builtins.compile builtins.execfile",
            {"python.eval", kCritical, "Runs text as code."}},
    // timeit takes functions as well: only a text is code.
    NameRow{kRunsCode,
            "builtins.eval builtins.exec builtins.compile cProfile.run cProfile.runctx profile.run pdb.run "
            "timeit.timeit timeit.repeat timeit.Timer",
            kNone},
    NameRow{kUsed,
            "cProfile.run cProfile.runctx profile.run profile.runctx pdb.run pdb.runeval trace.Trace bdb.Bdb "
            "code.InteractiveInterpreter code.InteractiveConsole code.interact code.compile_command codeop.* "
            "doctest.script_from_examples logging.config.BaseConfigurator",
            {"python.eval", kCritical, "Runs text as code."}},
    NameRow{kCalled, "types.CodeType types.FunctionType", {"python.eval", kCritical, "Runs text as code."}},
    NameRow{
        kUsed,
        "builtins.__import__ importlib.import_module importlib.__import__ importlib.reload imp.* pkgutil.resolve_name "
        "pydoc.locate importlib.util.spec_from_file_location importlib.util.module_from_spec "
        "importlib.machinery.SourceFileLoader importlib.machinery.SourcelessFileLoader "
        "importlib.machinery.ExtensionFileLoader importlib._bootstrap.* importlib._bootstrap_external.* "
        "_frozen_importlib.* _frozen_importlib_external.* zipimport.*",
        kDynamicImport},
    NameRow{kFunction, "load_module exec_module _gcd_import", kDynamicImport},
    NameRow{kUsed, "builtins.__builtins__ builtins.__loader__ builtins.__spec__", kBuiltins},
    NameRow{
        kMember,
        "__subclasses__ __globals__ __builtins__ __code__ __closure__ __import__ __getattribute__ __self__ __loader__ "
        "f_globals f_locals f_builtins f_back f_code tb_frame gi_frame cr_frame ag_frame gi_code func_globals "
        "func_code __reduce_ex__",
        kInternals},
    NameRow{kMember, "__mro__ __bases__ __base__ mro", kClassWalk},
    NameRow{kUsed, "os.system os.popen os.popen2 os.popen3 os.popen4 os.startfile platform.popen commands.* popen2.*",
            kSystem},
    NameRow{kRunsShell,
            "os.system os.popen commands.getoutput commands.getstatusoutput subprocess.getoutput "
            "subprocess.getstatusoutput asyncio.create_subprocess_shell pexpect.run pexpect.spawn platform.popen",
            kNone},
    NameRow{kUsed,
            "os.execl os.execle os.execlp os.execlpe os.execv os.execve os.execvp os.execvpe os.spawnl os.spawnle "
            "os.spawnlp "
            "os.spawnlpe os.spawnv os.spawnve os.spawnvp os.spawnvpe os.posix_spawn os.posix_spawnp os.fork os.forkpty "
            "pty.spawn pty.fork asyncio.create_subprocess_shell asyncio.create_subprocess_exec pexpect.* "
            "_posixsubprocess.* "
            "multiprocessing.util.spawnv_passfds posix.* nt.* distutils.spawn.* pip.main pip._internal.main "
            "pip._internal.cli.main.main",
            kProcess},
    NameRow{kRunsArgv,
            "pty.spawn subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen",
            kNone},
    NameRow{kUsed, "subprocess.* subprocess32.* sh.* plumbum.local plumbum.cmd fabric.Connection invoke.run",
            kSubprocess},
    NameRow{kFunction,
            "popen Popen popen2 popen3 popen4 create_subprocess_shell create_subprocess_exec subprocess_shell "
            "subprocess_exec",
            kSystem},
    NameRow{kHandedOn, "subprocess subprocess32 pty posix", kSubprocess},
    NameRow{kHandedOn,
            "builtins.open",
            {"python.file-write", kHigh, "Opens a file for writing, or for what cannot be told."}},
    NameRow{kHandedOn, "os sys builtins importlib sys.modules", kNone},
    NameRow{kUsed,
            "ctypes.CDLL ctypes.PyDLL ctypes.cdll ctypes.pydll ctypes.pythonapi ctypes.memmove ctypes.memset "
            "ctypes.string_at "
            "ctypes.CFUNCTYPE ctypes.cast ctypes.util.find_library cffi.FFI ctypes.LibraryLoader _ctypes.*",
            kNativeCode},
    NameRow{kUsed, "runpy.run_path runpy.run_module runpy.*", kRunsFile},
    // high
    NameRow{kImported,
            "os sys ctypes subprocess posix nt builtins _ctypes cffi pty code codeop runpy imp _frozen_importlib "
            "pexpect commands popen2 _posixsubprocess",
            kImportSystem},
    NameRow{kImported, "pickle cPickle _pickle marshal shelve dill cloudpickle jsonpickle", kUnpickle},
    NameRow{kUsed,
            "pickle.* cPickle.* marshal.* shelve.* dill.* cloudpickle.* jsonpickle.* joblib.load yaml.load "
            "yaml.unsafe_load "
            "yaml.full_load yaml.load_all pandas.read_pickle torch.load",
            kUnpickle},
    NameRow{kFunction, "read_pickle", kUnpickle},
    NameRow{kImported, "shutil", kShutil},
    NameRow{kUsed, "shutil.*", kShutil},
    NameRow{kImported,
            "requests urllib urllib2 urllib3 httplib httplib2 socket _socket http.client http.server xmlrpc httpx "
            "aiohttp ftplib smtplib "
            "poplib imaplib nntplib telnetlib paramiko websocket websockets socketserver ssl pycurl grequests scapy "
            "boto3 asyncssh tornado.httpclient selenium playwright webbrowser curl_cffi niquests twisted zmq socketio",
            kNetwork},
    NameRow{kUsed,
            "requests.* urllib.request.* urllib.urlopen urllib.urlretrieve urllib2.* urllib3.* socket.* httpx.* "
            "aiohttp.* http.client.* "
            "asyncio.open_connection asyncio.start_server asyncio.open_unix_connection pycurl.*",
            kNetwork},
    NameRow{kImported, "signal", kSignal},
    NameRow{kUsed, "signal.* os.kill os.killpg", kSignal},
    NameRow{kImported, "mmap", kMemoryMap},
    NameRow{kUsed, "mmap.*", kMemoryMap},
    NameRow{kUsed,
            "os.remove os.unlink os.rmdir os.removedirs os.rename os.renames os.replace os.truncate os.chmod os.chown "
            "os.link os.symlink "
            "os.lchown os.mknod os.mkfifo os.chroot os.mount",
            kFileDelete},
    NameRow{kMethod, "unlink rmdir hardlink_to symlink_to rmtree chmod lchmod", kFileDelete},
    NameRow{kUsed,
            "pathlib.Path.unlink pathlib.Path.rmdir pathlib.Path.rename pathlib.Path.replace pathlib.Path.chmod "
            "pathlib.Path.().unlink pathlib.Path.().rmdir pathlib.Path.().rename pathlib.Path.().replace",
            kFileDelete},
    NameRow{kUsed,
            "pathlib.Path.write_text pathlib.Path.write_bytes pathlib.Path.().write_text pathlib.Path.().write_bytes",
            kWriteCall},
    NameRow{kUsed,
            "pathlib.Path.read_text pathlib.Path.read_bytes pathlib.Path.().read_text pathlib.Path.().read_bytes",
            kReadCall},
    NameRow{kMethod, "write writelines write_text write_bytes", kWriteCall},
    NameRow{kUsed, "os.write os.pwrite os.writev os.sendfile os.copy_file_range", kWriteCall},
    // medium
    NameRow{kImported, "multiprocessing concurrent.futures.process", kConcurrency},
    NameRow{kMethod, "read read_text read_bytes readlines readline readinto", kReadCall},
    NameRow{kUsed, "json.load", kJsonLoad},
    NameRow{kUsed, "os.environ os.environb os.getenv os.putenv os.unsetenv", kEnvironment},
    NameRow{kFunction,
            "read_csv read_excel read_parquet read_json read_table read_feather read_hdf read_sql read_xml read_html "
            "imread loadtxt "
            "genfromtxt",
            kDataRead},
    // What is plainly something else.
    NameRow{kHarmless,
            "sys.stdout sys.stderr sys.__stdout__ sys.__stderr__ sys.stdout.buffer sys.stderr.buffer io.StringIO.() "
            "io.BytesIO.() "
            "StringIO.StringIO.() builtins.super.() urllib.parse urllib.error",
            kNone},
    NameRow{kSameAs,
            "io.open io.FileIO codecs.open gzip.open gzip.GzipFile bz2.open bz2.BZ2File lzma.open lzma.LZMAFile "
            "tarfile.open tarfile.TarFile tarfile.TarFile.open zipfile.ZipFile wave.open",
            SameAs("builtins.open")},
    NameRow{kSameAs, "pathlib.PosixPath pathlib.Path.cwd pathlib.Path.home", SameAs("pathlib.Path")},
    // Other ways to the same names.
    NameRow{kSameAs, "builtins.globals.() builtins.vars.() builtins.locals.()", SameAs("builtins")},
    NameRow{kSameAs, "StringIO cStringIO _io", SameAs("io")},
    NameRow{kAmbient,
            "os sys subprocess shutil requests urllib socket pickle ctypes importlib builtins json pty posix io",
            kNone},
    NameRow{kKnown,
            "builtins.open builtins.getattr builtins.globals builtins.vars builtins.locals builtins.chr builtins.print "
            "sys.modules "
            "base64.b64decode bytes.fromhex codecs.decode builtins.setattr builtins.bytes operator.attrgetter "
            "operator.methodcaller",
            kNone},
};

constexpr std::string_view kByOrganisation = "A module that this organisation has put on its list.";

}  // namespace

const Rule kPythonEval{"python.eval", kCritical, "Runs text as code."};
const Rule kPythonReflection{"python.reflection", kCritical,
                             "Asks for a member by a name that hides what it is, or that is only known when it runs."};
const Rule kPythonEncoding{"python.encoding", kCritical,
                           "Names an encoding in which the code can say something else than it seems to."};
const Rule kPythonFileRead{"python.file-read", kMedium, "Opens a file for reading."};
const Rule kPythonFileWrite{"python.file-write", kHigh, "Opens a file for writing, or for what cannot be told."};
const Rule kPythonLibraryWrite{"python.library-write", kMedium, "Writes a file through a library."};
const Rule kPythonOrganisationModule[] = {{"python.organisation", kSafe, kByOrganisation},
                                          {"python.organisation", kLow, kByOrganisation},
                                          {"python.organisation", kMedium, kByOrganisation},
                                          {"python.organisation", kHigh, kByOrganisation},
                                          {"python.organisation", kCritical, kByOrganisation}};

const Names& PythonNames() {
  static const Names names(kRows);
  return names;
}

}  // namespace skerry::policy
