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
constexpr Rule kHeapWalk{"python.heap-walk", kHigh, "Looks through all objects that the interpreter holds."};
constexpr Rule kClassWalk{"python.class-walk", kHigh, "Walks the classes that an object is made of."};
constexpr Rule kSystem{"python.system", kCritical, "Runs a command of the operating system."};
constexpr Rule kProcess{"python.process", kCritical, "Starts a process or takes the place of this one."};
constexpr Rule kSubprocess{"python.subprocess", kCritical, "Starts another program."};
constexpr Rule kNativeCode{"python.native-code", kCritical, "Calls machine code, which no rule of Python holds back."};
constexpr Rule kRunsFile{"python.run-file", kCritical, "Runs code from a file or a console."};
constexpr Rule kBuild{"python.build", kHigh, "Builds or installs packages, which writes files and can start programs."};
constexpr Rule kTcl{"python.tcl", kHigh, "Gives a command to Tcl, which can run code and start programs."};
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

// One row for each rule; see NameRow for how paths are written.
constexpr std::array kRows = {
    // critical
    NameRow{kUsed,
            "builtins.eval builtins.exec builtins.compile builtins.execfile",
            {"python.eval", kCritical, "Runs text as code."}},
    // timeit takes functions as well: only a text is code.
    NameRow{kRunsCode,
            "builtins.eval builtins.exec builtins.compile cProfile.run cProfile.runctx profile.run pdb.run "
            "timeit.timeit timeit.repeat timeit.Timer pdb.runctx pdb.runeval "
            "cProfile.Profile.().run cProfile.Profile.().runctx profile.Profile.().run profile.Profile.().runctx "
            "profile.runctx doctest.debug_script builtins.get_ipython.().run_cell builtins.get_ipython.().ex "
            "builtins.get_ipython.().ev",
            kNoRule},
    NameRow{
        kUsed,
        "cProfile.run cProfile.runctx profile.run profile.runctx pdb.run pdb.runeval trace.Trace bdb.Bdb "
        "code.InteractiveInterpreter code.InteractiveConsole code.interact code.compile_command codeop.* "
        "doctest.script_from_examples logging.config.BaseConfigurator doctest.DocTestRunner doctest.DocTestCase "
        "doctest.DebugRunner "
        "doctest.debug_src doctest.debug_script pdb.runctx cProfile.Profile.().run cProfile.Profile.().runctx "
        "profile.Profile.().run profile.Profile.().runctx timeit.main rlcompleter.Completer gettext.c2py "
        "typing.ForwardRef.()._evaluate typing._eval_type tkinter.Tcl tkinter.Tk.().eval tkinter.Tk.().tk.eval "
        "tkinter.Tk.().tk.evalfile _tkinter.* _xxsubinterpreters.* _interpreters.* concurrent.interpreters.* "
        "_testcapi.* _testinternalcapi.* test.support.run_in_subinterp test.support.run_code numpy.testing.runstring "
        "IPython.core.interactiveshell.* builtins.get_ipython.().run_cell builtins.get_ipython.().run_cell_magic "
        "builtins.get_ipython.().ex builtins.get_ipython.().ev",
        {"python.eval", kCritical, "Runs text as code."}},
    NameRow{kCalled,
            "types.CodeType types.FunctionType types.LambdaType",
            {"python.eval", kCritical, "Runs text as code."}},
    NameRow{kRunsTexts,
            "doctest.testmod doctest.run_docstring_examples doctest.DocTestSuite typing.get_type_hints "
            "inspect.get_annotations inspect.signature logging.config.DictConfigurator logging.config.dictConfig",
            kNoRule},
    NameRow{
        kUsed,
        "builtins.__import__ importlib.import_module importlib.__import__ importlib.reload imp.* pkgutil.resolve_name "
        "pydoc.locate importlib.util.spec_from_file_location importlib.util.module_from_spec "
        "importlib.machinery.SourceFileLoader importlib.machinery.SourcelessFileLoader "
        "importlib.machinery.ExtensionFileLoader importlib._bootstrap.* importlib._bootstrap_external.* "
        "_frozen_importlib.* _frozen_importlib_external.* zipimport.* _imp.create_dynamic _imp.create_builtin "
        "_imp.exec_dynamic _imp.exec_builtin _imp.init_frozen _imp.get_frozen_object "
        "importlib.machinery.BuiltinImporter "
        "importlib.machinery.FrozenImporter importlib.metadata.EntryPoint pkgutil.walk_packages pkgutil.ImpImporter "
        "pkgutil.ImpLoader pydoc.safeimport pydoc.importfile pydoc.resolve pydoc.synopsis pydoc.apropos pydoc.writedoc "
        "pydoc.writedocs pydoc.browse pydoc.cli pydoc.Helper pydoc.ModuleScanner lib2to3.refactor.* lib2to3.main.* "
        "optparse.Values.().read_module test.support.import_helper.* pkg_resources.load_entry_point "
        "pkg_resources.EntryPoint",
        kDynamicImport},
    // A text as argument is the name of a module to import; an object is only looked at.
    NameRow{kImports,
            "builtins.help pydoc.help pydoc.doc pydoc.render_doc unittest.main unittest.TestProgram "
            "unittest.TestLoader.().loadTestsFromName pkgutil.get_data "
            "pkgutil.get_loader pkgutil.find_loader importlib.resources.files importlib.resources.path "
            "importlib.resources.contents importlib.resources.is_resource importlib.resources.open_text "
            "importlib.resources.open_binary importlib.resources.read_text importlib.resources.read_binary",
            kNoRule},
    NameRow{kFunction, "load_module exec_module _gcd_import", kDynamicImport},
    NameRow{kUsed, "builtins.__builtins__ builtins.__loader__ builtins.__spec__", kBuiltins},
    NameRow{
        kMember,
        "__subclasses__ __globals__ __builtins__ __code__ __closure__ __import__ __getattribute__ __self__ __loader__ "
        "f_globals f_locals f_builtins f_back f_code tb_frame gi_frame cr_frame ag_frame gi_code func_globals "
        "func_code __reduce_ex__",
        kInternals},
    NameRow{kUsed, "inspect.getclosurevars", kInternals},
    NameRow{kUsed,
            "string.Formatter.().get_field",
            {"python.reflection", kCritical,
             "Asks for a member by a name that hides what it is, or that is only known when it runs."}},
    NameRow{kUsed, "gc.get_objects gc.get_referrers gc.get_referents", kHeapWalk},
    NameRow{kMember, "__mro__ __bases__ __base__ mro", kClassWalk},
    NameRow{kUsed,
            "os.system os.popen os.popen2 os.popen3 os.popen4 os.startfile platform.popen commands.* popen2.* "
            "pydoc.pipepager pydoc.tempfilepager pydoc.pager pydoc.getpager pipes.Template mailcap.* "
            "_osx_support._read_output builtins.get_ipython.().system builtins.get_ipython.().getoutput "
            "IPython.utils.process.*",
            kSystem},
    NameRow{kRunsShell,
            "os.system os.popen commands.getoutput commands.getstatusoutput subprocess.getoutput "
            "subprocess.getstatusoutput asyncio.create_subprocess_shell pexpect.run pexpect.spawn platform.popen "
            "webbrowser.get imaplib.IMAP4_stream builtins.get_ipython.().system builtins.get_ipython.().getoutput "
            "IPython.utils.process.system IPython.utils.process.getoutput",
            kNoRule},
    NameRow{kUsed,
            "os.execl os.execle os.execlp os.execlpe os.execv os.execve os.execvp os.execvpe os.spawnl os.spawnle "
            "os.spawnlp "
            "os.spawnlpe os.spawnv os.spawnve os.spawnvp os.spawnvpe os.posix_spawn os.posix_spawnp os.fork os.forkpty "
            "pty.spawn pty.fork asyncio.create_subprocess_shell asyncio.create_subprocess_exec pexpect.* "
            "_posixsubprocess.* "
            "multiprocessing.util.spawnv_passfds posix.* nt.* distutils.spawn.* pip.main pip._internal.main "
            "pip._internal.cli.main.main pip._internal.commands.create_command pip._internal.utils.subprocess.* "
            "distutils.ccompiler.new_compiler distutils.unixccompiler.* distutils.util.byte_compile "
            "distutils.util.execute ensurepip.bootstrap ensurepip._bootstrap ensurepip._run_pip ensurepip._main "
            "ensurepip._uninstall.* venv.create venv.main venv.EnvBuilder "
            "virtualenv.cli_run virtualenv.run.* numpy.f2py.compile numpy.f2py.run_main numpy.f2py.main "
            "numpy.distutils.exec_command.* "
            "http.server.CGIHTTPRequestHandler multiprocessing.set_executable multiprocessing.spawn.* "
            "multiprocessing.forkserver.* multiprocessing.popen_fork.* multiprocessing.popen_forkserver.* "
            "multiprocessing.popen_spawn_posix.*",
            kProcess},
    NameRow{kRunsArgv,
            "pty.spawn subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen",
            kNoRule},
    NameRow{kUsed,
            "subprocess.* subprocess32.* sh.* plumbum.local plumbum.cmd fabric.Connection invoke.run "
            "webbrowser.get webbrowser.register webbrowser.GenericBrowser webbrowser.BackgroundBrowser "
            "webbrowser.UnixBrowser imaplib.IMAP4_stream _bootsubprocess.* uuid._get_command_stdout "
            "test.support.script_helper.*",
            kSubprocess},
    NameRow{kFunction,
            "popen Popen popen2 popen3 popen4 create_subprocess_shell create_subprocess_exec subprocess_shell "
            "subprocess_exec",
            kSystem},
    NameRow{kHandedOn, "subprocess subprocess32 pty posix", kSubprocess},
    NameRow{kHandedOn,
            "builtins.open",
            {"python.file-write", kHigh, "Opens a file for writing, or for what cannot be told."}},
    NameRow{kHandedOn, "os sys builtins importlib sys.modules", kNoRule},
    NameRow{kUsed,
            "ctypes.CDLL ctypes.PyDLL ctypes.cdll ctypes.pydll ctypes.pythonapi ctypes.memmove ctypes.memset "
            "ctypes.string_at "
            "ctypes.CFUNCTYPE ctypes.cast ctypes.util.find_library cffi.FFI ctypes.LibraryLoader _ctypes.* "
            "ctypes.PYFUNCTYPE ctypes.*.from_address numpy.ctypeslib.load_library",
            kNativeCode},
    NameRow{kFunction, "load_extension enable_load_extension", kNativeCode},
    NameRow{
        kUsed,
        "runpy.run_path runpy.run_module runpy.* site.addsitedir site.addpackage site.addsitepackages "
        "site.addusersitepackages site.execsitecustomize site.execusercustomize site.venv site.main "
        "doctest.testfile doctest.DocFileSuite doctest.DocFileTest doctest.DocFileCase doctest.debug pdb.Pdb pdb.main "
        "pdb.set_trace pdb.runcall pdb.post_mortem pdb.pm bdb.set_trace trace.main cProfile.main profile.main "
        "optparse.Values.().read_file unittest.TestLoader.().discover "
        "distutils.core.run_setup setuptools.sandbox.* "
        "setuptools.build_meta.* pkg_resources.run_script pkg_resources.run_main idlelib.* _pyrepl.* test.regrtest.* "
        "test.libregrtest.* IPython.embed IPython.start_ipython IPython.start_kernel IPython.embed_kernel",
        kRunsFile},
    NameRow{kCalled, "builtins.breakpoint sys.breakpointhook", kRunsFile},
    // high
    NameRow{kImported,
            "os sys ctypes subprocess posix nt builtins _ctypes cffi pty code codeop runpy imp _frozen_importlib "
            "pexpect commands popen2 _posixsubprocess",
            kImportSystem},
    NameRow{kImported, "pickle cPickle _pickle marshal shelve dill cloudpickle jsonpickle", kUnpickle},
    NameRow{
        kUsed,
        "pickle.* cPickle.* marshal.* shelve.* dill.* cloudpickle.* jsonpickle.* joblib.load yaml.load "
        "yaml.unsafe_load "
        "yaml.full_load yaml.load_all pandas.read_pickle torch.load logging.config.fileConfig logging.config.listen "
        "tracemalloc.Snapshot.load trace.CoverageResults pkgutil.read_code lib2to3.pgen2.driver.load_grammar "
        "lib2to3.pgen2.grammar.Grammar.().load lib2to3.pgen2.grammar.Grammar.().loads "
        "multiprocessing.reduction.*",
        kUnpickle},
    NameRow{kFunction, "read_pickle", kUnpickle},
    NameRow{kImported, "shutil", kShutil},
    NameRow{kUsed, "shutil.* distutils.dir_util.* distutils.file_util.* distutils.archive_util.*", kShutil},
    NameRow{kCalled, "distutils.core.setup setuptools.setup zipapp.create_archive zipapp.main", kBuild},
    NameRow{kUsed, "tkinter.Tk.().tk.call", kTcl},
    NameRow{kImported,
            "requests urllib urllib2 urllib3 httplib httplib2 socket _socket http.client http.server xmlrpc httpx "
            "aiohttp ftplib smtplib "
            "poplib imaplib nntplib telnetlib paramiko websocket websockets socketserver ssl pycurl grequests scapy "
            "boto3 asyncssh tornado.httpclient selenium playwright webbrowser curl_cffi niquests twisted zmq socketio "
            "asyncore asynchat smtpd wsgiref.simple_server antigravity",
            kNetwork},
    NameRow{kUsed,
            "requests.* urllib.request.* urllib.urlopen urllib.urlretrieve urllib2.* urllib3.* socket.* httpx.* "
            "aiohttp.* http.client.* "
            "asyncio.open_connection asyncio.start_server asyncio.open_unix_connection pycurl.* "
            "asyncio.start_unix_server asyncio.AbstractEventLoop.().create_connection "
            "asyncio.AbstractEventLoop.().create_server asyncio.AbstractEventLoop.().sock_connect "
            "logging.handlers.SocketHandler logging.handlers.DatagramHandler logging.handlers.SysLogHandler "
            "logging.handlers.HTTPHandler logging.handlers.SMTPHandler multiprocessing.connection.Client "
            "multiprocessing.connection.Listener multiprocessing.connection.SocketClient "
            "multiprocessing.connection.SocketListener multiprocessing.connection.XmlClient "
            "multiprocessing.managers.BaseManager",
            kNetwork},
    NameRow{kFunction, "create_datagram_endpoint create_unix_connection create_unix_server", kNetwork},
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
    NameRow{kUsed, "concurrent.futures.ProcessPoolExecutor", kConcurrency},
    NameRow{kUsed,
            "builtins.get_ipython.().run_line_magic builtins.get_ipython.().magic",
            {"python.magic", kMedium, "Gives a command to the notebook."}},
    NameRow{kCalled,
            "logging.FileHandler logging.handlers.RotatingFileHandler logging.handlers.TimedRotatingFileHandler "
            "logging.handlers.WatchedFileHandler mailbox.Maildir mailbox.mbox mailbox.MH mailbox.Babyl mailbox.MMDF "
            "dbm.dumb.open uu.encode uu.decode py_compile.compile compileall.compile_dir compileall.compile_file "
            "readline.write_history_file",
            {"python.library-write", kMedium, "Writes a file through a library."}},
    NameRow{kCalled, "fileinput.input fileinput.FileInput", kReadCall},
    NameRow{kMethod, "read read_text read_bytes readlines readline readinto", kReadCall},
    NameRow{kUsed, "json.load", kJsonLoad},
    NameRow{kUsed, "os.environ os.environb os.getenv os.putenv os.unsetenv", kEnvironment},
    NameRow{kFunction,
            "read_csv read_excel read_parquet read_json read_table read_feather read_hdf read_sql read_xml read_html "
            "imread loadtxt "
            "genfromtxt",
            kDataRead},
    // Members that are harmless.
    NameRow{kHarmless,
            "sys.stdout sys.stderr sys.__stdout__ sys.__stderr__ sys.stdout.buffer sys.stderr.buffer io.StringIO.() "
            "io.BytesIO.() "
            "StringIO.StringIO.() builtins.super.() urllib.parse urllib.error",
            kNoRule},
    NameRow{kSameAs,
            "io.open io.FileIO codecs.open gzip.open gzip.GzipFile bz2.open bz2.BZ2File lzma.open lzma.LZMAFile "
            "tarfile.open tarfile.TarFile tarfile.TarFile.open zipfile.ZipFile wave.open aifc.open sunau.open dbm.open "
            "dbm.gnu.open dbm.ndbm.open _pyio.open _pyio.FileIO tokenize.open",
            SameAs("builtins.open")},
    NameRow{kSameAs, "pathlib.PosixPath pathlib.Path.cwd pathlib.Path.home", SameAs("pathlib.Path")},
    // Other paths to the same names.
    NameRow{kSameAs, "builtins.globals.() builtins.vars.() builtins.locals.()", SameAs("builtins")},
    NameRow{kSameAs, "StringIO cStringIO _io", SameAs("io")},
    NameRow{kSameAs, "inspect.getattr_static", SameAs("builtins.getattr")},
    NameRow{kSameAs, "_operator", SameAs("operator")},
    NameRow{kSameAs, "IPython.get_ipython IPython.core.getipython.get_ipython", SameAs("builtins.get_ipython")},
    NameRow{kSameAs, "setuptools._distutils", SameAs("distutils")},
    NameRow{kSameAs, "unittest.loader.TestLoader", SameAs("unittest.TestLoader")},
    NameRow{kSameAs, "unittest.defaultTestLoader unittest.loader.defaultTestLoader", SameAs("unittest.TestLoader.()")},
    NameRow{kSameAs, "asyncio.subprocess asyncio.streams asyncio.events asyncio.base_events asyncio.unix_events",
            SameAs("asyncio")},
    NameRow{kSameAs,
            "asyncio.get_event_loop.() asyncio.get_running_loop.() asyncio.new_event_loop.() "
            "asyncio.SelectorEventLoop.()",
            SameAs("asyncio.AbstractEventLoop.()")},
    // Modules of the library that other modules have as members, besides those that are looked for in every module.
    NameRow{kSameAs,
            "inspect.importlib pkgutil.importlib pydoc.importlib pyclbr.importlib py_compile.importlib "
            "compileall.importlib modulefinder.importlib zipfile.importlib",
            SameAs("importlib")},
    NameRow{kSameAs, "tempfile._shutil tarfile.shutil zipfile.shutil zipapp.shutil venv.shutil", SameAs("shutil")},
    NameRow{kSameAs, "trace.pickle tracemalloc.pickle pickletools.pickle logging.handlers.pickle", SameAs("pickle")},
    NameRow{kSameAs, "pstats.marshal profile.marshal modulefinder.marshal", SameAs("marshal")},
    NameRow{kSameAs, "mailbox.socket email.utils.socket logging.handlers.socket", SameAs("socket")},
    NameRow{kSameAs, "http.cookiejar.urllib xml.sax.saxutils.urllib", SameAs("urllib")},
    NameRow{kSameAs, "doctest.pdb", SameAs("pdb")},
    NameRow{kSameAs, "pdb.code", SameAs("code")},
    NameRow{kSameAs, "cgitb.pydoc", SameAs("pydoc")},
    NameRow{kAmbient,
            "os sys subprocess shutil requests urllib socket pickle ctypes importlib builtins json pty posix io",
            kNoRule},
    NameRow{kKnown,
            "builtins.open builtins.getattr builtins.globals builtins.vars builtins.locals builtins.chr builtins.print "
            "sys.modules "
            "base64.b64decode bytes.fromhex codecs.decode builtins.setattr builtins.bytes operator.attrgetter "
            "operator.methodcaller numpy.load fileinput.input fileinput.FileInput argparse.FileType "
            "builtins.get_ipython",
            kNoRule},
};

}  // namespace

const Rule kPythonEval{"python.eval", kCritical, "Runs text as code."};
const Rule kPythonReflection{"python.reflection", kCritical,
                             "Asks for a member by a name that hides what it is, or that is only known when it runs."};
const Rule kPythonEncoding{"python.encoding", kCritical,
                           "Names an encoding in which the code can say something else than it seems to."};
const Rule kPythonFileRead{"python.file-read", kMedium, "Opens a file for reading."};
const Rule kPythonFileWrite{"python.file-write", kHigh, "Opens a file for writing, or for what cannot be told."};
const Rule kPythonWriteCall = kWriteCall;
const Rule kPythonUnpickle = kUnpickle;
const Rule kPythonLibraryWrite{"python.library-write", kMedium, "Writes a file through a library."};
const RuleByLevel kPythonOrganisationModule = OrganisationModule("python.organisation");

const Names& PythonNames() {
  static const Names names(kRows);
  return names;
}

}  // namespace skerry::policy
