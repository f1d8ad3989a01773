// What a program can reach from an interpreter that a zygote forked into its sandbox, and what it finds in there.
#include <array>
#include <fstream>

#include "integration/hostile_program.hpp"

namespace skerry {
namespace {

using support::WarmHostileTest;
using std::chrono_literals::operator""s;

// ---- What it can reach

TEST_F(WarmHostileTest, TheInterpretersFileOnTheHostsMountCanBeReadAndNothingElse) {
  const auto ran = Attack(R"(
def word(attempt):
    try:
        attempt()
        return 'done'
    except OSError as error:
        return errno.errorcode[error.errno]

exe = '/proc/self/exe'
handle = os.open(exe, os.O_RDONLY)
print('write', word(lambda: os.open(exe, os.O_WRONLY)))
print('append', word(lambda: os.open(exe, os.O_RDWR | os.O_APPEND)))
print('truncate', word(lambda: os.truncate(exe, 0)))
print('mode', word(lambda: os.fchmod(handle, 0o777)))
print('owner', word(lambda: os.fchown(handle, 1000, 1000)))
print('times', word(lambda: os.utime(handle, (0, 0))))
print('attribute', word(lambda: os.setxattr(handle, 'user.x', b'x')))
print('link', word(lambda: os.link(exe, '/tmp/python', follow_symlinks=True)))
print('parent', word(lambda: os.open('..', os.O_RDONLY, dir_fd=handle)))
print('below', word(lambda: os.open(exe + '/../../etc/passwd', os.O_RDONLY)))
places = os.listdir('/proc/self/map_files')
tried = {word(lambda: os.open('/proc/self/map_files/' + place, os.O_RDONLY)) for place in places}
print('mapped', len(places) > 5, tried)
)");
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(std::string::npos, ran->standard_output.find("done")) << ran->standard_output;
  EXPECT_NE(std::string::npos, ran->standard_output.find("mapped True {'EPERM'}")) << ran->standard_output;
  EXPECT_EQ(0, ran->outcome.exit_code) << ran->standard_error;
  ExpectOverAndDone();
}

TEST_F(WarmHostileTest, ItCanLookIntoNobodyButItself) {
  const auto ran = Attack(R"(
def word(result):
    return errno.errorcode.get(ctypes.get_errno(), '?') if result < 0 else 'done'

print('tracer', libc.prctl(0x59616d61, -1, 0, 0, 0) and 'refused' or 'any')  # PR_SET_PTRACER
for target in (1, os.getpid()):
    print('ptrace', word(libc.ptrace(16, target, 0, 0)))
    here = ctypes.create_string_buffer(16)
    vector = ctypes.create_string_buffer(struct.pack('PN', ctypes.addressof(here), 8))
    print('readv', word(libc.syscall(READV, target, vector, 1, vector, 1, 0)))
    handle = libc.syscall(434, target, 0)
    print('getfd', word(libc.syscall(438, handle, 3, 0)))
for name in ('mem', 'maps', 'environ', 'fd', 'root', 'exe', 'ns/mnt'):
    try:
        os.open('/proc/1/' + name, os.O_RDONLY)
        print(name, 'done')
    except OSError:
        pass
print('keys', word(libc.syscall(KEYCTL, 0, -3, 0)), word(libc.syscall(KEYCTL, 11, -4, None, 0)))
print('mm', word(libc.prctl(35, 1, 0x10000, 0, 0)))
)");
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(std::string::npos, ran->standard_output.find("done")) << ran->standard_output;
  EXPECT_EQ(0, ran->outcome.exit_code) << ran->standard_error;
  ExpectOverAndDone();
}

// The same text in an interpreter that was waiting and in one that the init starts: the fence of a process must not
// depend on how it was started.
TEST_F(WarmHostileTest, ItIsFencedInLikeAProgramThatTheInitStarts) {
  constexpr char kFacts[] = R"(
import ctypes, os, resource
libc = ctypes.CDLL(None)
wanted = ('Uid', 'Gid', 'Groups', 'Umask', 'SigBlk', 'SigIgn', 'Cap', 'NoNewPrivs', 'Seccomp', 'Cpus_allowed_list',
          'CoreDumping', 'THP', 'TracerPid', 'Speculation', 'x86_Thread')
facts = [line for line in open('/proc/self/status') if line.startswith(wanted)]
limits = [name for name in dir(resource) if name.startswith('RLIMIT_')]
facts += [f'{name} {resource.getrlimit(getattr(resource, name))}\n' for name in limits]
for option in (3, 7, 21, 27, 30, 34, 39, 42):  # what prctl can be asked
    facts.append(f'prctl {option} {libc.prctl(option, 0, 0, 0, 0)}\n')
facts += [open('/proc/self/' + name).read() for name in ('oom_score_adj', 'setgroups', 'timens_offsets')]
facts.append(f'{os.getpriority(0, 0)} {os.sched_getscheduler(0)} {sorted(os.listdir("/"))} {os.uname().nodename}\n')
facts += [line for line in open('/proc/self/cgroup') if not line.startswith('0::')]
print(''.join(facts))
)";
  const auto warm = Run(kFacts, 10s);
  ASSERT_TRUE(warm.has_value()) << warm.error().message;
  ASSERT_EQ(core::StartKind::kWarm, warm->start);
  core::ExecutionRequest request;
  request.language = core::Language::kShell;
  request.code = std::string("python3 - <<'END'") + kFacts + "END\n";
  const auto started = manager_->Execute(request, {}, {});
  ASSERT_TRUE(started.has_value()) << started.error().message;
  EXPECT_FALSE(warm->standard_output.empty());
  EXPECT_EQ(started->standard_output, warm->standard_output) << started->standard_error << warm->standard_error;
}

// ---- What programs may count on although no parent can be seen

TEST_F(WarmHostileTest, AProgramWithoutAParentHasChildrenLikeAnyOther) {
  const auto ran = Attack(R"(
import multiprocessing, pty, subprocess
print(os.getppid(), os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid())
print(subprocess.run(['sh', '-c', 'echo shell; exit 3'], capture_output=True, text=True))
with multiprocessing.get_context('fork').Pool(2) as pool:
    print(pool.map(abs, [-1, -2]))
child = os.fork()
if child == 0:
    os._exit(9)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
reader, writer = os.pipe()
if os.fork() == 0:
    if os.fork():
        os._exit(0)
    while os.getppid() not in (0, 1):
        time.sleep(0.01)
    os.write(writer, b'orphan of %d' % os.getppid())
    os._exit(0)
print(os.read(reader, 100))
child, terminal = pty.fork()
if child == 0:
    os.execvp('sh', ['sh', '-c', 'tty >/dev/null && stty size >/dev/null; exit 4'])
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
)",
                          20s);
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(
      "0 True True\n"
      "CompletedProcess(args=['sh', '-c', 'echo shell; exit 3'], returncode=3, stdout='shell\\n', stderr='')\n"
      "[1, 2]\n9\nb'orphan of 1'\n4\n",
      ran->standard_output)
      << ran->standard_error;
  ExpectOverAndDone();
}

TEST_F(WarmHostileTest, SignalsToItsParentReachNobodyElse) {
  const auto ran = Attack(R"(
signal.signal(signal.SIGUSR1, lambda *_: print('mine', flush=True))
os.kill(os.getppid(), signal.SIGUSR1)  # 0: the group, which is its own
time.sleep(0.1)
try:
    os.kill(-1, signal.SIGKILL)
except ProcessLookupError:
    print('nobody')
)");
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ("mine\nnobody\n", ran->standard_output) << ran->standard_error;
  ExpectOverAndDone();
}

// ---- What is left of the zygote

// The test searches outside of the sandbox, so that the searched text is nowhere inside.
TEST_F(WarmHostileTest, NothingOfTheHostIsInItsMemory) {
  const auto ran = Attack(R"(
handle = os.open('/proc/self/mem', os.O_RDONLY)
for line in open('/proc/self/maps').read().splitlines():
    place, rights, *_ = line.split()
    if 'w' not in rights:
        continue
    at, end = (int(number, 16) for number in place.split('-'))
    try:
        while at < end:
            at += os.write(1, os.pread(handle, min(end - at, 1 << 16), at))
    except OSError:
        pass
)");
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  ASSERT_GT(ran->standard_output.size(), 1U << 20U);
  ASSERT_NE(std::string::npos, ran->standard_output.find(name_)) << "what must be found is not";
  std::vector<std::string> secrets = {launcher::ProgramPaths::BesideThisProgram()->launcher,
                                      launcher::ProgramPaths::BesideThisProgram()->zygote_library};
  std::array<char, 256> host{};
  ASSERT_EQ(0, ::gethostname(host.data(), host.size() - 1));
  secrets.emplace_back(host.data());
  std::ifstream users("/etc/passwd");
  for (std::string line; std::getline(users, line);)
    if (!line.starts_with("root:") && !line.starts_with("nobody:")) secrets.push_back(line);
  secrets.push_back(environment_);
  for (const std::string& secret : secrets)
    if (secret.size() > 5) EXPECT_EQ(std::string::npos, ran->standard_output.find(secret)) << secret;
}

TEST_F(WarmHostileTest, NothingOfAnEarlierProgramIsInItsMemory) {
  const std::string token = "token" + std::to_string(base::RandomU64());
  const auto earlier = Run("kept = '" + token + "' * 1000\nprint(len(kept))", 10s);
  ASSERT_TRUE(earlier.has_value()) << earlier.error().message;
  const auto ran = Attack(R"(
handle = os.open('/proc/self/mem', os.O_RDONLY)
for line in open('/proc/self/maps').read().splitlines():
    place, rights, *_ = line.split()
    at, end = (int(number, 16) for number in place.split('-'))
    try:
        while 'w' in rights and at < end:
            at += os.write(1, os.pread(handle, min(end - at, 1 << 16), at))
    except OSError:
        pass
)");
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  ASSERT_GT(ran->standard_output.size(), 1U << 20U);
  EXPECT_EQ(std::string::npos, ran->standard_output.find(token));
}

}  // namespace
}  // namespace skerry
