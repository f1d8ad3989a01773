#include "policy/shell_rules.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/shell_environment.hpp"

namespace skerry::policy {

using core::Language;
using enum core::RiskLevel;
using enum ShellCondition;

const Rule kShellCommand{"shell.command", kMedium, "A command that is not known to be harmless."};
const Rule kShellUnknownCommand{"shell.unknown-command", kHigh, "Which command this runs cannot be known."};
const Rule kShellUnknownCode{"shell.unknown-code", kHigh, "Runs code that cannot be known."};
const Rule kShellHiddenCode{"shell.hidden-code", kCritical, "Runs code that is hidden from whoever reads it.",
                            Verdict::kReject};
const Rule kShellNestedCode{"shell.nested-code", kMedium, "Runs code that is given to it as text."};
const Rule kShellDownloadRun{"shell.download-run", kCritical, "Runs code from the network that nobody has seen.",
                             Verdict::kReject};
const Rule kShellRemoveSystem{"shell.remove-system", kCritical,
                              "Deletes a tree that the system or the person cannot do without.", Verdict::kReject};
const Rule kShellRemove{"shell.remove", kHigh, "Deletes files."};
const Rule kShellForkBomb{"shell.fork-bomb", kCritical, "Starts itself again and again, until nothing else can run.",
                          Verdict::kReject};
const Rule kShellReverseShell{"shell.reverse-shell", kCritical, "Gives a shell to another machine.", Verdict::kReject};
const Rule kShellDevice{"shell.device", kCritical, "Writes to a device.", Verdict::kReject};
const Rule kShellSocket{"shell.socket", kCritical, "Connects to another machine through the shell itself.",
                        Verdict::kReject};
const Rule kShellGitDiscard{"shell.git-discard", kHigh, "Discards work in a repository."};
const Rule kShellGitConfig{"shell.git-config", kHigh, "Tells git which programs to start."};
const Rule kShellRedirect{"shell.redirect", kHigh, "Writes to a file."};

namespace {

constexpr std::string_view kByOrganisation = "The organisation's rules name this command.";

constexpr Rule kFormat{"shell.format-disk", kCritical, "Formats or wipes a disk.", Verdict::kReject};
constexpr Rule kRawCopy{"shell.raw-copy", kCritical, "Copies raw data, which can overwrite a disk.", Verdict::kReject};
constexpr Rule kPowerOff{"shell.power-off", kCritical, "Stops the machine.", Verdict::kReject};
constexpr Rule kMoveSystem{"shell.move-system", kCritical,
                           "Moves a tree that the system or the person cannot do without.", Verdict::kReject};
constexpr Rule kOpenSystem{"shell.permissions-system", kCritical,
                           "Changes who may use a whole tree of the system or the person.", Verdict::kReject};
constexpr Rule kMove{"shell.move", kHigh, "Moves or overwrites files."};
constexpr Rule kWrite{"shell.write", kHigh, "Writes to files that its arguments name."};
constexpr Rule kPermissions{"shell.permissions", kHigh, "Changes who may use files."};
constexpr Rule kPrivileges{"shell.privileges", kHigh, "Runs as another user or outside of its surroundings."};
constexpr Rule kPush{"shell.git-push", kHigh, "Changes what others have of a repository."};
constexpr Rule kPublish{"shell.publish", kHigh, "Publishes or deletes something on other machines."};
constexpr Rule kUpload{"shell.upload", kHigh, "Sends files to another machine."};
constexpr Rule kSystem{"shell.system", kHigh, "Changes the system: its users, its kernel, its disks or its network."};
constexpr Rule kLater{"shell.run-later", kHigh, "Runs commands later, when nobody is looking."};
constexpr Rule kSignal{"shell.signal", kHigh, "Ends processes."};
constexpr Rule kStarts{"shell.starts-program", kHigh, "An option that starts another program."};
constexpr Rule kFilter{"shell.filter-program", kMedium, "An option that starts another program."};

constexpr auto kRows = std::to_array<ShellRow>({
    // Critical.
    {"mkfs mkfs.* mke2fs mkswap mkdosfs newfs wipefs blkdiscard sgdisk sfdisk cfdisk gdisk lvremove vgremove pvremove "
     "pvcreate flashcp flash_erase debugfs",
     kAlways, "", &kFormat},
    {"zpool zfs nvme", kFirstOperand, "destroy create labelclear format sanitize write-zeroes", &kFormat},
    {"mdadm badblocks", kOption, "-C -w --create --zero-superblock", &kFormat},
    {"hdparm", kPrefix, "--security --trim-sector --write-sector --make-bad-sector", &kFormat},
    {"fdisk parted", kOption, "-l --list", &kShellCommand},
    {"fdisk parted", kAlways, "", &kFormat},
    {"cryptsetup", kFirstOperand, "luksFormat erase luksErase", &kFormat},
    {"diskutil", kFirstOperand, "eraseDisk eraseVolume partitionDisk zeroDisk", &kFormat},
    {"dd dcfldd ddrescue", kPrefix, "if= of=", &kRawCopy},
    {"dd dcfldd ddrescue", kDevice, "", &kRawCopy},
    {"shred", kDevice, "", &kFormat},
    {"cp tee truncate install pv ln sponge curl wget wget2 aria2c", kDevice, "", &kShellDevice},
    {"shutdown reboot halt poweroff", kAlways, "", &kPowerOff},
    {"init telinit", kFirstOperand, "0 1 6 s S", &kPowerOff},
    {"systemctl loginctl", kFirstOperand, "poweroff reboot halt kexec soft-reboot rescue emergency suspend hibernate",
     &kPowerOff},
    {"nc ncat netcat nc.traditional nc.openbsd", kOption, "-e -c --exec --sh-exec --lua-exec", &kShellReverseShell},
    {"socat", kPart, "EXEC: SYSTEM: SHELL: exec: system: shell: Exec: System:", &kShellReverseShell},
    {"chmod chown chgrp chattr setfacl", kRecursiveOnSystem, "", &kOpenSystem},
    {"mv", kSystemTree, "", &kMoveSystem},
    // High.
    {"mv rename", kAlways, "", &kMove},
    {"git", kFirstOperand, "mv", &kMove},
    {"rmdir unlink shred srm wipe trash trash-put", kAlways, "", &kShellRemove},
    {"tee", kFile, "", &kWrite},
    {"truncate sponge dd patch", kAlways, "", &kWrite},
    {"ip ifconfig route tc", kWord, "add del delete set flush down up change replace", &kSystem},
    {"sed gsed", kOption, "-i --in-place", &kWrite},
    {"sed gsed", kPrefix, "--i", &kWrite},
    {"awk gawk", kWord, "inplace", &kWrite},
    {"perl ruby", kOption, "-i", &kWrite},
    {"rsync", kPrefix, "--delete --remove-source-files", &kShellRemove},
    {"rsync", kPrefix, "--rsync-path", &kStarts},
    {"rsync", kCode, "-e --rsh", &kFilter},
    {"rclone", kFirstOperand, "delete purge move sync", &kShellRemove},
    {"chmod chown chgrp chattr setfacl setcap chcon", kAlways, "", &kPermissions},
    {"git", kFirstOperand, "push send-email", &kPush},
    {"git", kPrefix, "--force", &kPush},
    {"git", kEarlyOption, "-c --config-env --exec-path", &kShellGitConfig},
    {"git", kPrefix, "--upload-pa --receive-pa --open-files-in-pager --extcmd ext::", &kShellGitConfig},
    {"git", kGitSetting,
     "alias. credential. pager. include. includeif. core.hookspath core.editor core.pager core.sshcommand "
     "core.fsmonitor core.askpass core.gitproxy sequence.editor diff.external gpg.program protocol.ext "
     "init.templatedir interactive.difffilter .command .cmd .textconv .clean .smudge .process .driver .program "
     ".helper .uploadpack .receivepack",
     &kShellGitConfig},
    {"git", kFirstOperand, "filter-branch filter-repo clean reflog gc update-ref", &kShellGitDiscard},
    {"git", kWord, "--hard --har -D --discard-changes", &kShellGitDiscard},
    {"npm pnpm yarn cargo gem twine poetry flit hatch uv", kFirstOperand,
     "publish unpublish upload deprecate yank push", &kPublish},
    {"kubectl helm terraform pulumi aws gcloud az gh docker podman", kWord,
     "delete uninstall destroy drain terminate-instances rb prune", &kPublish},
    {"docker podman nerdctl", kPrefix, "--privileged --pid=host --net=host --network=host", &kPrivileges},
    {"docker podman nerdctl", kPart, "docker.sock", &kPrivileges},
    {"docker podman nerdctl", kPrefix, "/:/ -v/: --volume=/: --cap-add", &kPrivileges},
    {"curl", kOption, "-T -K --upload-file --config", &kUpload},
    {"curl", kPrefix, "@ -d@", &kUpload},
    {"curl", kPart, "=@", &kUpload},
    {"wget wget2", kPrefix, "--post-file --body-file --use-askpass", &kUpload},
    {"sendmail mail mutt ftp sftp tftp", kAlways, "", &kUpload},
    {"useradd userdel usermod groupadd groupdel groupmod adduser deluser passwd chpasswd chsh visudo vipw gpasswd "
     "insmod rmmod modprobe kexec sysctl mount umount swapoff swapon losetup iptables ip6tables nft ufw firewall-cmd "
     "bwrap capsh setenforce hostnamectl timedatectl update-rc.d chroot unshare nsenter pivot_root "
     "ldconfig update-alternatives efibootmgr grub-install ptrace bpftool auditctl setsebool authconfig",
     kAlways, "", &kSystem},
    {"crontab at batch", kAlways, "", &kLater},
    {"kill killall pkill killall5 skill fuser", kAlways, "", &kSignal},
    {"tar", kPrefix, "--to-c --checkpoint-a --use-c --rsh-c --remove-f --info-s --new-volume-s", &kStarts},
    {"tar", kCode, "-I -F", &kFilter},
    {"zip", kOption, "-T --unzip-command", &kStarts},
    {"ssh scp sftp", kPart, "ProxyCommand LocalCommand KnownHostsCommand", &kStarts},
    {"man", kCode, "-P --pager", &kStarts},
    {"man", kOption, "-H --html", &kStarts},
    {"sort", kPrefix, "--comp", &kStarts},
    {"sort", kOption, "-o --output", &kWrite},
    {"sort", kPrefix, "--o", &kWrite},
    {"make gmake", kPrefix, "--ev -E SHELL= .SHELLFLAGS= MAKEFLAGS=", &kStarts},
    {"enable", kOption, "-f", &kStarts},
    {"mapfile readarray compgen complete", kCode, "-C", &kFilter},
    {"bind", kOption, "-x", &kStarts},
    {"hash", kOption, "-p", &kStarts},
    {"vi vim nvim ex view gvim rvim", kOption, "-c --cmd -S -s -u", &kStarts},
    {"vi vim nvim ex view gvim rvim", kPrefix, "+", &kStarts},
    {"emacs", kOption, "--eval --execute --load --funcall --script -l -f", &kStarts},
    // Safe commands that are not safe with these options.
    {"find", kWord, "-fprint -fprint0 -fprintf -fls", &kShellRedirect},
    {"tree less", kOption, "-o -O --output --log-file --LOG-FILE", &kShellRedirect},
    {"file", kOption, "-C --compile", &kShellRedirect},
    {"rg ag ack", kCode, "--pre --pager --hostname-bin", &kFilter},
    {"rg ag ack", kPrefix, "--pre --pager --hostname-bin", &kFilter},
    {"less", kLessOrder, "", &kStarts},
    {"less", kOption, "-k", &kStarts},
    {"less", kPrefix, "--lessk", &kStarts},
});

using enum ShellWrapper::Tail;

constexpr auto kWrappers = std::to_array<ShellWrapper>({
    {.names = "sudo",
     .value_letters = "ugpChDRrtT",
     .value_options = "--user --group --host --prompt --chdir --role --type --chroot --other-user --close-from",
     .may_be_shell = true,
     .rule = &kPrivileges},
    {.names = "doas", .value_letters = "uCa", .may_be_shell = true, .rule = &kPrivileges},
    {.names = "pkexec", .value_options = "--user", .may_be_shell = true, .rule = &kPrivileges},
    {.names = "su sg newgrp",
     .value_letters = "sgGw",
     .tail = kNothing,
     .code_letters = "c",
     .may_be_shell = true,
     .rule = &kPrivileges},
    {.names = "runuser", .value_letters = "ugGsw", .code_letters = "c", .may_be_shell = true, .rule = &kPrivileges},
    {.names = "chroot", .operands = 1, .may_be_shell = true, .rule = &kPrivileges},
    {.names = "unshare", .value_letters = "SGRw", .may_be_shell = true, .rule = &kPrivileges},
    {.names = "nsenter",
     .value_letters = "tSG",
     .value_options = "--target",
     .may_be_shell = true,
     .rule = &kPrivileges},
    {.names = "setpriv systemd-run", .value_letters = "pu", .may_be_shell = true, .rule = &kPrivileges},
    {.names = "env", .value_letters = "uC", .value_options = "--unset --chdir", .code_letters = "S"},
    {.names = "timeout gtimeout", .value_letters = "ks", .value_options = "--kill-after --signal", .operands = 1},
    {.names = "nice", .value_letters = "n", .value_options = "--adjustment"},
    {.names = "ionice", .value_letters = "cn", .value_options = "--class --classdata"},
    {.names = "chrt taskset", .operands = 1},
    {.names = "stdbuf", .value_letters = "ioe", .value_options = "--input --output --error"},
    {.names = "time gtime", .value_letters = "fo", .value_options = "--format --output"},
    {.names = "exec", .value_letters = "a"},
    {.names = "xargs gxargs",
     .value_letters = "adEILnPs",
     .value_options = "--arg-file --delimiter --max-args --max-procs --max-chars --process-slot-var"},
    {.names = "watch", .value_letters = "nq", .value_options = "--interval", .tail = kCode},
    {.names = "parallel", .value_letters = "jSNnaILI", .value_options = "--jobs --sshlogin", .tail = kCode},
    {.names = "flock", .value_letters = "wE", .value_options = "--timeout", .operands = 1, .code_letters = "c"},
    {.names = "script", .value_letters = "EIOBTmo", .tail = kNothing, .code_letters = "c", .may_be_shell = true},
    {.names = "strace ltrace", .value_letters = "oeEpPsSuabIUXnlw"},
    {.names = "ssh", .value_letters = "bcDEeFIiJLlmOopQRSWwB", .operands = 1, .tail = kCode},
    {.names = "tmux", .value_letters = "LSfcnstxyFe", .operands = 1, .tail = kCode, .may_be_shell = true},
    {.names = "screen", .value_letters = "SceshpT", .may_be_shell = true},
    {.names = "xvfb-run", .value_letters = "efnpsw"},
    {.names =
         "unbuffer fakeroot eatmydata firejail proxychains proxychains4 torsocks torify chronic setsid nohup command "
         "builtin busybox toybox valgrind catchsegv dbus-run-session caffeinate numactl rlwrap tini "
         "dumb-init catatonit cpulimit systemd-inhibit systemd-cat aa-exec nocorrect noglob coproc entr",
     .value_letters = ""},
    // Names of machine types are commands, and arguments of setarch.
    {.names =
         "setarch linux64 linux32 uname26 x86_64 i386 i486 i586 i686 athlon aarch64 arm armv7l armv8l ppc ppc32 ppc64 "
         "ppc64le s390 s390x sparc sparc64 mips mips32 mips64 riscv32 riscv64 alpha ia64 parisc",
     .may_be_shell = true},
    {.names = "ld-linux-x86-64.so.2 ld-linux.so.2 ld-linux-aarch64.so.1 ld-linux-armhf.so.3 ld-musl-x86_64.so.1 "
              "ld-musl-aarch64.so.1 ld.so",
     .value_options = "--argv0 --library-path --inhibit-rpath --preload --audit --glibc-hwcaps-prepend "
                      "--glibc-hwcaps-mask"},
    {.names = "prlimit", .value_letters = "po", .value_options = "--pid --output"},
    {.names = "choom", .value_letters = "np", .value_options = "--adjust --pid"},
    {.names = "ssh-agent", .value_letters = "aEOPt"},
    {.names = "faketime logsave", .operands = 1},
    {.names = "gosu su-exec setuidgid s6-setuidgid", .operands = 1, .rule = &kPrivileges},
    {.names = "chpst", .value_letters = "ubemdofpcrt/n", .rule = &kPrivileges},
    {.names = "run0",
     .value_letters = "ugD",
     .value_options = "--user --group --chdir",
     .may_be_shell = true,
     .rule = &kPrivileges},
    {.names = "hyperfine", .value_letters = "wmMrspcSni", .tail = kCode},
    {.names = "direnv", .operands = 2, .only_after = "exec"},
    {.names = "perf", .value_letters = "eopCFg", .operands = 1},
    {.names = "uv poetry pipenv pdm hatch conda mamba rye", .operands = 1, .only_after = "run"},
    {.names = "bundle pnpm", .operands = 1, .code_letters = "c", .only_after = "exec"},
    {.names = "npm", .operands = 1, .code_letters = "c", .only_after = "exec", .may_be_shell = true},
    {.names = "npx bunx pipx", .value_letters = "p", .code_letters = "c"},
    {.names = "sshpass", .value_letters = "pfdP"},
});

constexpr auto kInterpreters = std::to_array<ShellInterpreter>({
    {.names = "sh bash zsh dash ksh ash mksh pdksh yash rbash fish csh tcsh",
     .language = Language::kShell,
     .code_letters = "c",
     .code_options = "--command --init-command",
     .value_letters = "oO",
     .value_options = "--rcfile --init-file"},
    {.names = "python pypy ipython python-config micropython",
     .language = Language::kPython,
     .code_letters = "c",
     .value_letters = "WX"},
    {.names = "node nodejs bun deno ts-node tsx",
     .language = Language::kJavaScript,
     .code_letters = "ep",
     .code_options = "--eval --print",
     .value_letters = "rC",
     .value_options = "--require --import --loader --experimental-loader --conditions --env-file"},
    {.names = "perl", .code_letters = "eE", .value_letters = "I"},
    {.names = "ruby jruby", .code_letters = "e", .value_letters = "rIC"},
    {.names = "php", .code_letters = "rBRE", .code_options = "--run", .value_letters = "dcz"},
    {.names = "lua luajit", .code_letters = "e", .value_letters = "l"},
    {.names = "Rscript R", .code_letters = "e"},
    {.names = "julia elixir", .code_letters = "eE", .code_options = "--eval"},
    {.names = "osascript groovy ghc scala erl racket clojure bb sbcl guile",
     .code_letters = "e",
     .code_options = "--eval"},
    {.names = "pwsh powershell", .code_letters = "c", .code_options = "-Command -EncodedCommand -enc"},
    {.names = "expect", .code_letters = "c"},
    {.names = "tclsh wish gdb octave", .code_options = "-ex -iex --ex --iex --eval --eval-command --init-eval-command"},
});

struct TraitRow {
  ShellTrait trait;
  std::string_view names;
};

constexpr auto kTraits = std::to_array<TraitRow>({
    {ShellTrait::kSafe,
     "ls tree find pwd file stat cat head tail less more grep rg ag ack wc du echo which whereis : true false test [ "
     "[[ "
     "exit"},
    {ShellTrait::kDownload,
     "curl wget wget2 fetch aria2c aria2 axel lynx links elinks w3m http https xh httpie curlie nc ncat netcat "
     "nc.traditional nc.openbsd socat telnet ftp tftp lftp GET lwp-request lwp-download scp sftp dig nslookup host "
     "drill"},
    {ShellTrait::kDecoder,
     "base64 base32 basenc xxd openssl uudecode rev tr gpg gunzip zcat bzcat xzcat unxz bunzip2 zstdcat gzip rot13 "
     "caesar unhex od hexdump iconv"},
    {ShellTrait::kConnection, "nc ncat netcat nc.traditional nc.openbsd socat telnet openssl cryptcat websocat"},
    {ShellTrait::kPassesOn, "cat tee head tail pv tac sponge buffer less more"},
    {ShellTrait::kTakesOrders,
     "sqlite3 ed ex vi vim rvim view dc m4 gnuplot psql mysql mariadb gdb lldb irb pry ghci iex jshell jdb ocaml utop "
     "sml "
     "poly swipl gprolog clisp ecl gforth maxima gp xonsh nu elvish bpython ptpython mongo mongosh"},
    {ShellTrait::kTakesTypedOrders,
     "vi vim nvim view ex gvim rvim nano pico emacs joe micro kak hx less more most man info mc ranger nnn lf vifm tig "
     "lazygit w3m lynx links elinks mutt telnet"},
    {ShellTrait::kKeyword, "{ } if then else elif fi do done while until for case esac select function ! in ;; ( )"},
});

// Commands that decode only with an option.
struct DecoderRow {
  std::string_view names;
  std::string_view options;
};
constexpr auto kDecoderOptions = std::to_array<DecoderRow>({
    {"base64 base32 basenc", "-d -D --decode --decod --deco"},
    {"xxd", "-r --revert"},
    {"openssl gpg gzip", "-d -D --decrypt --decompress --uncompress s_client"},
    {"od hexdump iconv", "--never"},
});

// Options with a value that may stand before the first operand.
constexpr auto kValueOptions = std::to_array<ShellValueOptions>(
    {{"git", "Cc", "--git-dir --work-tree --namespace --super-prefix --config-env --attr-source"},
     {"systemctl", "HpMt", "--host --machine --root --image --type --property"},
     {"kubectl", "ns", "--namespace --context --kubeconfig --server --cluster --user"},
     {"helm", "n", "--namespace --kube-context --kubeconfig"},
     {"docker", "Hlc", "--host --context --config --log-level"},
     {"npm", "Cw", "--prefix --workspace"},
     {"cargo", "CZ", "--color --config"}});

constexpr std::string_view kStandardDirectories = "/bin /usr/bin /usr/local/bin /sbin /usr/sbin";
constexpr std::string_view kHarmlessDevices =
    "/dev/null /dev/stdin /dev/stdout /dev/stderr /dev/tty /dev/zero /dev/full /dev/random /dev/urandom /dev/ptmx";
// Calls `visit` with every word of the list.
template <typename Visitor>
void ForEachWord(std::string_view list, Visitor&& visit) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (end > 0) visit(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

bool Lists(std::string_view list, std::string_view word) {
  bool found = false;
  ForEachWord(list, [&](std::string_view each) { found = found || each == word; });
  return found;
}

struct Entry {
  std::vector<const ShellRow*> rows;
  const ShellWrapper* wrapper = nullptr;
  const ShellInterpreter* interpreter = nullptr;
  unsigned traits = 0;  // one bit for each trait
};
using Entries = std::unordered_map<std::string_view, Entry>;

Entries MakeEntries() {
  Entries entries;
  for (const ShellRow& row : kRows)
    ForEachWord(row.names, [&](std::string_view name) { entries[name].rows.push_back(&row); });
  for (const ShellWrapper& wrapper : kWrappers)
    ForEachWord(wrapper.names, [&](std::string_view name) { entries[name].wrapper = &wrapper; });
  for (const ShellInterpreter& interpreter : kInterpreters)
    ForEachWord(interpreter.names, [&](std::string_view name) { entries[name].interpreter = &interpreter; });
  for (const TraitRow& row : kTraits)
    ForEachWord(row.names,
                [&](std::string_view name) { entries[name].traits |= 1U << static_cast<unsigned>(row.trait); });
  return entries;
}

const Entry* EntryOf(std::string_view name) {
  static const Entries kEntries = MakeEntries();
  auto found = kEntries.find(name);
  if (found == kEntries.end() && name.starts_with("mkfs.")) found = kEntries.find("mkfs.*");
  return found == kEntries.end() ? nullptr : &found->second;
}

}  // namespace

const Rule kShellOrganisation[] = {{"shell.organisation", kSafe, kByOrganisation},
                                   {"shell.organisation", kLow, kByOrganisation},
                                   {"shell.organisation", kMedium, kByOrganisation},
                                   {"shell.organisation", kHigh, kByOrganisation},
                                   {"shell.organisation", kCritical, kByOrganisation, Verdict::kReject}};

std::vector<const Rule*> AllShellRules() {
  std::vector<const Rule*> rules = {&kShellCommand,     &kShellUnknownCommand,
                                    &kShellUnknownCode, &kShellHiddenCode,
                                    &kShellNestedCode,  &kShellRemove,
                                    &kShellDownloadRun, &kShellRemoveSystem,
                                    &kShellForkBomb,    &kShellReverseShell,
                                    &kShellDevice,      &kShellSocket,
                                    &kShellRedirect,    &kShellEnvironment,
                                    &kShellSearchPath,  &kShellOrganisation[static_cast<std::size_t>(kCritical)]};
  for (const ShellRow& row : kRows) rules.push_back(row.rule);
  for (const ShellWrapper& wrapper : kWrappers)
    if (wrapper.rule != nullptr) rules.push_back(wrapper.rule);
  return rules;
}

std::span<const ShellRow* const> ShellRowsOf(std::string_view name) {
  const Entry* entry = EntryOf(name);
  return entry == nullptr ? std::span<const ShellRow* const>() : entry->rows;
}

const ShellWrapper* ShellWrapperOf(std::string_view name) {
  const Entry* entry = EntryOf(name);
  return entry == nullptr ? nullptr : entry->wrapper;
}

const ShellInterpreter* ShellInterpreterOf(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789.-");
  const Entry* entry = last == std::string_view::npos ? nullptr : EntryOf(name.substr(0, last + 1));
  return entry == nullptr ? nullptr : entry->interpreter;
}

bool HasShellTrait(std::string_view name, ShellTrait trait) {
  const Entry* entry = EntryOf(name);
  return entry != nullptr && (entry->traits & (1U << static_cast<unsigned>(trait))) != 0;
}

bool IsDecoding(std::string_view name, std::span<const std::string_view> arguments) {
  if (!HasShellTrait(name, ShellTrait::kDecoder)) return false;
  const auto row =
      std::ranges::find_if(kDecoderOptions, [&](const DecoderRow& each) { return Lists(each.names, name); });
  if (row == kDecoderOptions.end()) return true;
  return std::ranges::any_of(arguments, [&](std::string_view argument) {
    bool found = Lists(row->options, argument);
    const bool is_cluster = argument.starts_with('-') && !argument.starts_with("--");
    ForEachWord(row->options, [&](std::string_view option) {
      found = found || (is_cluster && option.size() == 2 && argument.contains(option[1]) && name != "openssl");
    });
    return found;
  });
}

bool IsStandardDirectory(std::string_view directory) {
  return Lists(kStandardDirectories, directory);
}

bool IsHarmlessDevice(std::string_view path) {
  return Lists(kHarmlessDevices, path) || path.starts_with("/dev/fd/") || path.starts_with("/dev/pts/");
}

ShellValueOptions ValueOptionsOf(std::string_view name) {
  const auto row = std::ranges::find(kValueOptions, name, &ShellValueOptions::name);
  return row == kValueOptions.end() ? ShellValueOptions() : *row;
}

}  // namespace skerry::policy
