"""What becomes of files: a person's directory, the `filesystem` settings, and machines that lack something."""
import json
import os
import socket
import stat
import subprocess
import threading
import unittest

import harness

HOOK = "#!/bin/sh\ntouch /tmp/owned\n"


class WorkspaceTest(harness.SkerryTest):
    def setUp(self):
        super().setUp()
        self.work = self.directory("work")

    def write(self, name, text="", mode=0o644):
        path = os.path.join(self.work, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        self.own()
        return path

    def own(self):
        """All of the directory belongs to whoever the runs are of."""
        if harness.AS_USER:
            for root, names, files in os.walk(self.work):
                for each in (root, *(os.path.join(root, n) for n in names + files)):
                    os.chown(each, harness.PLAIN_ID, harness.PLAIN_ID, follow_symlinks=False)

    def clone(self, place="."):
        """The directory, or one below it, is a repository with a remote; gives its configuration."""
        path = os.path.join(self.work, place)
        os.makedirs(path, exist_ok=True)
        for arguments in (["init", "-q"], ["remote", "add", "origin", "https://example.org/x.git"]):
            subprocess.run(["git", "-c", "safe.directory=*", "-C", path, *arguments], check=True)
        self.own()
        return self.read(os.path.join(place, ".git/config"))

    def read(self, name):
        with open(os.path.join(self.work, name), encoding="utf-8") as file:
            return file.read()

    def run_in(self, code, *arguments, **options):
        result = self.shell(code, "--json", "--workspace", self.work, *arguments, **options)
        return json.loads(result.out)

    def withheld(self, result):
        return {row["path"]: row["reason"] for row in result["files_withheld"]}


class CommitTest(WorkspaceTest):
    def test_changes_are_carried_over_and_told(self):
        self.write("old", "1")
        self.write("gone", "1")
        result = self.run_in("echo 2 > old; rm gone; mkdir -p a/b; echo 3 > a/b/new; ln -s old link")
        self.assertEqual((self.read("old"), self.read("a/b/new")), ("2\n", "3\n"))
        self.assertEqual(result["files_created"], ["a/b/new", "link"])
        self.assertEqual((result["files_changed"], result["files_deleted"]), (["old"], ["gone"]))
        self.assertEqual((os.readlink(os.path.join(self.work, "link")), result["files_withheld"]), ("old", []))

    def test_new_files_belong_to_the_owner_of_the_directory(self):
        self.run_in("touch new; mkdir d; touch d/new")
        owner = os.stat(self.work).st_uid
        for name in ("new", "d", "d/new"):
            self.assertEqual(os.stat(os.path.join(self.work, name)).st_uid, owner)

    def test_the_next_run_sees_what_this_one_left(self):
        self.run_in("echo 1 > n; rm -rf d; mkdir d; echo x > d/x")
        self.assertEqual(self.run_in("cat n d/x")["stdout"], "1\nx\n")

    def test_nothing_changes_while_it_runs(self):
        self.write("old", "before")
        process = subprocess.Popen(
            self.command("run", "-l", "shell", "-w", self.work, "echo after > old; echo up; read line"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment(), cwd=self.home)
        self.assertEqual(process.stdout.readline(), b"up\n")
        self.assertEqual(self.read("old"), "before")
        process.communicate(b"\n", timeout=20)
        self.assertEqual(self.read("old"), "after\n")

    def test_what_would_run_on_the_persons_side_stays_out(self):
        subprocess.run(["git", "init", "-q", self.work], check=True)
        self.write(".git/description", "x")
        config = self.read(".git/config")
        result = self.run_in(f"cat > .git/hooks/pre-commit <<'E'\n{HOOK}E\nchmod +x .git/hooks/pre-commit\n"
                             "git config core.fsmonitor ./evil; git config alias.x '!evil'\n"
                             "mkdir -p deep/er/.vscode .claude; echo {} > deep/er/.vscode/tasks.json\n"
                             "echo evil > .bashrc; echo {} > .mcp.json; echo x > .claude/settings.json\n"
                             "git init -q nested; echo evil > nested/.git/hooks/post-checkout; echo fine > nested/file")
        withheld = self.withheld(result)
        self.assertEqual(self.read(".git/config"), config)
        self.assertEqual(self.read("nested/file"), "fine\n")
        for name in (".git/hooks/pre-commit", "deep/er/.vscode", ".bashrc", ".mcp.json", ".claude",
                     "nested/.git/hooks/post-checkout", ".git/config"):
            self.assertIn(name, withheld)
            if name != ".git/config":
                self.assertFalse(os.path.exists(os.path.join(self.work, name)), name)

    def test_instructions_for_agents_are_told_when_new_and_stay_when_not(self):
        self.write("CLAUDE.md", "mine")
        self.write("part/AGENTS.md", "mine")
        result = self.run_in("echo evil > CLAUDE.md; echo new > AGENTS.md; mkdir -p .github; ln -s AGENTS.md GEMINI.md; "
                             "rm part/AGENTS.md; mkdir part/AGENTS.md; echo x > part/AGENTS.md/x; echo fine > README.md")
        self.assertEqual(sorted(self.withheld(result)), ["CLAUDE.md", "part/AGENTS.md"])
        self.assertEqual([row["path"] for row in result["files_to_review"]], ["AGENTS.md", "GEMINI.md"])
        self.assertEqual((self.read("CLAUDE.md"), self.read("part/AGENTS.md"), self.read("AGENTS.md")),
                         ("mine", "mine", "new\n"))
        # Not in two steps either; and what is gone with its directory is gone.
        self.assertIn("CLAUDE.md", self.withheld(self.run_in("rm CLAUDE.md")))
        self.assertEqual(self.run_in("rm -r part")["files_withheld"], [])
        self.assertFalse(os.path.exists(os.path.join(self.work, "part")))

    def test_siblings_of_what_is_withheld_are_withheld(self):
        names = ("lefthook.toml", "lefthook.json", "mise.local.toml", "mise/config.toml", ".huskyrc.js", "prek.toml",
                 ".sl/config", ".pijul/config", "jupyter_server_config.py", "x.sublime-project", ".theia/tasks.json",
                 ".externalToolBuilders/x", ".lazy.lua", ".env", ".venv/bin/activate", "lib/site-packages/x.pth",
                 ".cargo/config.toml", ".mvn/jvm.config", "lint-staged.config.js", ".git-credentials", ".pgpass",
                 ".vault-token", ".cargo/credentials.toml", ".lfsconfig", ".gitreview", ".RData", ".byebugrc", ".rdbgrc",
                 ".proverc", "_vimrc", "_exrc", ".lite_project.lua", ".cargo/env", ".flaskenv", ".corepack.env",
                 ".jj/workspace-config.toml", ".amp/settings.json", ".ampcoderc", ".agent/rules/x.md", ".shadowenv.d/x",
                 ".kateproject", "NuGet.Config", "pip.conf", "conductor.json", ".terraform/providers/x")
        result = self.run_in("".join(f"mkdir -p $(dirname {name}); echo x > {name}\n" for name in names))
        self.assertEqual(result["exit_code"], 0, result["stderr"])
        left = [name for name in names if os.path.exists(os.path.join(self.work, name))]
        self.assertEqual(left, [])

    def test_what_moves_to_a_name_that_is_withheld_is_not_lost(self):
        self.write("proj/main.py", "m\n")
        self.write("proj/.env", "SECRET=1\n")
        self.write("proj/.venv/bin/activate", "act\n")
        os.symlink("/usr/bin/python3", os.path.join(self.work, "proj/.venv/bin/python"))
        os.symlink("shared.env", os.path.join(self.work, "proj/.envrc"))
        self.own()
        withheld = self.withheld(self.run_in("mv proj app; echo NEW=2 >> app/.env; echo more >> app/.venv/bin/activate"))
        self.assertEqual((self.read("proj/.env"), self.read("proj/.venv/bin/activate")), ("SECRET=1\n", "act\n"))
        for name in ("proj/.venv/bin/python", "proj/.envrc"):
            self.assertTrue(os.path.islink(os.path.join(self.work, name)), name)
            self.assertIn("may have been moved to app", withheld[name])
        self.assertEqual((self.read("app/main.py"), os.path.exists(os.path.join(self.work, "proj/main.py"))),
                         ("m\n", False))

    def test_a_change_stands_beside_a_withheld_copy_of_the_old_content(self):
        self.write(".env.example", "A=1\n")
        self.write("gone", "x")
        result = self.run_in("cp .env.example .env; echo B=2 >> .env.example; rm gone")
        self.assertEqual((self.read(".env.example"), result["files_deleted"]), ("A=1\nB=2\n", ["gone"]))
        self.assertEqual(self.withheld(result), {".env": "directory environment"})

    def test_ordinary_work_with_git_is_carried_over(self):
        result = self.run_in("git init -q . && git config user.email a@b && git config user.name a && echo 1 > f && "
                             "git add f && git commit -qm one && git remote add origin https://example.org/x.git")
        self.assertEqual((result["exit_code"], result["files_withheld"]), (0, []), result["stderr"])
        self.assertEqual(self.run_in("git log --oneline | wc -l; git status --short")["stdout"], "1\n")

    def test_an_open_rebase_and_a_worktree_say_how_to_go_on(self):
        self.clone()
        result = self.run_in("git config user.email a@b; git config user.name a; commit() { echo $1 > f; git add f; "
                             "git commit -qm $1; }\ngit checkout -qb one; commit 1; git checkout -qb two; commit 2; "
                             "git checkout -q one; commit 3; git worktree add -q wt -b tree; git checkout -q two; "
                             "git rebase -q one")
        self.assertEqual({path: reason.split(" (")[0] for path, reason in self.withheld(result).items()},
                         {".git/rebase-merge": "open rebase, which can start programs; git checkout leaves it",
                          ".git/worktrees": "git worktree, which leads into the sandbox; git worktree add makes one here",
                          "wt/.git": "git worktree, which leads into the sandbox; git worktree add makes one here"})
        self.assertIn("<<<<<<<", self.read("f"))
        self.assertEqual(self.read("wt/f"), "3\n")
        for arguments in (["checkout", "-qf", "two"], ["worktree", "add", "-q", "wt2", "tree"]):
            subprocess.run(["git", "-c", "safe.directory=*", "-C", self.work, *arguments], check=True)
        self.assertEqual((self.read("f"), self.read("wt2/f")), ("2\n", "3\n"))

    def test_where_a_repository_pushes_to_stays_as_it_was(self):
        self.clone()
        before = self.read(".git/config")
        for change in ("git remote set-url origin https://evil.example/x.git", "git remote add fork https://evil.example",
                       "git config remote.origin.pushurl https://evil.example", "git remote remove origin",
                       "git config branch.main.remote https://evil.example", "git config remote.pushDefault evil",
                       "git config url.https://evil.example/.pushInsteadOf https://example.org/",
                       "git config extensions.partialClone evil",
                       "rm -rf .git; git init -q; git remote add origin https://evil.example/x.git",
                       "cp -r .git other; git -C other config remote.origin.url https://evil.example; rm -rf .git; "
                       "mkdir o; mv other o/.git; echo 'gitdir: o/.git' > .git"):
            result = self.run_in(change)
            self.assertEqual(result["exit_code"], 0, change + result["stderr"])
            self.assertTrue({".git", ".git/config"} & set(self.withheld(result)), change)
            self.assertEqual(self.read(".git/config"), before, change)
        # Not in two steps either.
        self.run_in("rm -rf .git")
        self.run_in("git init -q; git remote add origin https://evil.example/x.git")
        self.assertEqual(self.read(".git/config"), before)

    def test_branches_of_a_repository_may_follow_its_remote(self):
        self.clone()
        result = self.run_in("git config branch.new.remote origin; git config branch.new.merge refs/heads/new")
        self.assertEqual((result["exit_code"], result["files_withheld"]), (0, []), result["stderr"])
        self.assertIn('[branch "new"]', self.read(".git/config"))

    def test_a_hooks_directory_of_the_persons_own_choice_is_protected(self):
        subprocess.run(["git", "init", "-q", self.work], check=True)
        subprocess.run(["git", "config", "--file", self.work + "/.git/config", "core.hooksPath", "tools/git"], check=True)
        self.write("tools/git/pre-commit", "mine")
        self.assertIn("tools/git/pre-commit", self.withheld(self.run_in("echo evil > tools/git/pre-commit")))
        self.assertEqual(self.read("tools/git/pre-commit"), "mine")

    def test_what_git_runs_is_protected_where_it_really_lies(self):
        self.clone()
        own = self.read(".git/config")
        self.write("ci/pre-commit", "mine", 0o755)
        self.write("tools/monitor.sh", "mine", 0o755)
        os.symlink("ci", os.path.join(self.work, "linked"))
        os.symlink("../../tools/monitor.sh", os.path.join(self.work, ".git/hooks/post-commit"))
        self.own()
        self.assertIn("tools/monitor.sh", self.withheld(self.run_in("echo evil > tools/monitor.sh")))
        os.unlink(os.path.join(self.work, ".git/hooks/post-commit"))
        long_line = "[alias]\n\tl = log " + "x" * 2000 + "\n"
        for path, text in (("ci/pre-commit", f"[core]\n\thooksPath = {self.work}/ci\n"),
                           ("ci/pre-commit", f"[core]\n\thooksPath = ../{os.path.basename(self.work)}/ci\n"),
                           ("ci/pre-commit", "[core]\n\thooksPath = linked\n"),
                           ("ci/pre-commit", long_line + "[core]\n\thooksPath = ci\n"),
                           ("tools/monitor.sh", "[core]\n\tfsmonitor = tools/monitor.sh\n"),
                           ("tools/monitor.sh", "[filter \"x\"]\n\tclean = sh $PWD/tools/monitor.sh %f\n")):
            with self.subTest(text[-80:]):
                self.write(".git/config", own + text)
                result = self.run_in(f"echo evil > {path}; echo 1 >> free")
                self.assertEqual((list(self.withheld(result)), self.read(path)), ([path], "mine"))
        self.write(".git/config", own + "[core]\n\thooksPath = a/b\n")
        self.assertIn("a", self.withheld(self.run_in("mkdir -p e/b; echo evil > e/b/pre-commit; ln -s e a")))

    def test_a_repository_around_the_directory_says_what_git_runs(self):
        self.clone()
        self.write("part/ci/pre-commit", "mine", 0o755)
        subprocess.run(["git", "-c", "safe.directory=*", "-C", self.work, "add", "part"], check=True)
        self.write(".git/config", self.read(".git/config") + "[core]\n\thooksPath = part/ci\n")
        above = self.work
        self.work = os.path.join(above, "part")
        result = self.run_in("echo evil > ci/pre-commit; git init -q .; git remote add origin https://evil.example/x")
        self.assertEqual(set(self.withheld(result)), {"ci/pre-commit", ".git"})
        self.assertEqual(self.read("ci/pre-commit"), "mine")

    def test_no_other_repository_takes_the_place_of_one(self):
        self.clone()
        own = self.read(".git/config")
        self.write("src/file")
        self.write("tree/.git", "gitdir: ../elsewhere\n")
        evil = "remote add origin https://evil.example/x"
        for code in (f"git init -q src; git -C src {evil}", f"rm tree/.git; git init -q tree; git -C tree {evil}",
                     "cp .git/config kept; mv .git/HEAD .git/H", "rm -f .git/config",
                     "git config -f kept remote.origin.url https://evil.example/x; mv kept .git/config"):
            self.run_in(code)
        self.assertEqual((self.read(".git/config"), self.read("tree/.git")), (own, "gitdir: ../elsewhere\n"))
        self.assertTrue(os.path.exists(os.path.join(self.work, ".git/HEAD")))
        self.assertFalse(os.path.exists(os.path.join(self.work, "src/.git")))

    def test_a_project_that_is_moved_pushes_to_where_it_did(self):
        own = self.clone("proj")
        moved = "mv proj {0}; git -C {0} remote set-url origin https://evil.example/x"
        self.assertIn("proj", self.withheld(self.run_in(moved.format("one") + "; ln -s one proj")))
        self.assertEqual(self.read("proj/.git/config"), own)
        self.assertIn("two/.git/config", self.withheld(self.run_in(moved.format("two"))))
        self.assertEqual(self.read("proj/.git/config"), own)

    def test_a_project_may_be_moved(self):
        own = self.clone("proj")
        self.assertEqual(self.run_in("mv proj app")["files_withheld"], [])
        self.assertEqual(self.read("app/.git/config"), own)
        self.assertEqual(os.listdir(self.work), ["app"])

    def test_a_new_repository_beside_and_below_is_free(self):
        self.clone()
        result = self.run_in("git init -q new; git -C new remote add origin https://example.org/new; "
                             "git init -q p; echo 1 > p/a; mv p q")
        self.assertEqual((result["exit_code"], result["files_withheld"]), (0, []), result["stderr"])

    def test_a_repository_is_not_armed_in_two_steps(self):
        self.run_in("mkdir -p x/hooks x/objects x/refs; echo evil > x/hooks/whatever; printf '[core]\\nfsmonitor=evil\\n' > x/config")
        result = self.run_in("echo 'ref: refs/heads/main' > x/HEAD")
        self.assertIn("x/HEAD", self.withheld(result))

    def test_links_out_fifos_sockets_and_set_id_bits_stay_out(self):
        result = self.run_in("ln -s /etc/passwd l1; ln -s ../../x l2; mkfifo p; "
                             "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('s')\"; "
                             "touch f; chmod 755 f; chmod u+s f")
        self.assertEqual(sorted(self.withheld(result)), ["l1", "l2", "p", "s"])
        self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.work, "f")).st_mode), 0o755)

    def test_a_socket_of_the_host_cannot_be_reached(self):
        path = os.path.join(self.work, "host.sock")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path)
            os.chmod(path, 0o777)
            server.listen()
            accepted = []
            server.settimeout(3)
            thread = threading.Thread(target=lambda: accepted.append(try_accept(server)))
            thread.start()
            result = self.run_in("python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('host.sock')\"")
            thread.join()
        self.assertNotEqual(result["exit_code"], 0)
        self.assertEqual(accepted, [None])

    def test_killed_at_the_timeout_the_work_so_far_is_kept(self):
        result = self.run_in("echo 1 > kept; sleep 60", "--timeout", "1")
        self.assertEqual((result["outcome"], self.read("kept")), ("timed_out", "1\n"))


class SettingsTest(WorkspaceTest):
    def with_settings(self, **settings):
        return {f"SKERRY_SANDBOX__FILESYSTEM__{name.upper()}": json.dumps(value) for name, value in settings.items()}

    def test_deny_write_holds_at_any_depth(self):
        self.write("a/.env", "mine")
        result = self.run_in("echo x > .env; echo x > a/.env; rm a/.env; mkdir -p data/x; echo 1 > data/x/y; echo 1 > ok",
                             environment=self.with_settings(deny_write=[".env", "data/**"]))
        self.assertEqual(self.read("a/.env"), "mine")
        self.assertFalse(os.path.exists(os.path.join(self.work, ".env")))
        self.assertFalse(os.path.exists(os.path.join(self.work, "data/x/y")))
        self.assertEqual(result["files_created"], ["ok"])
        self.assertIn("filesystem.denyWrite", " ".join(self.withheld(result).values()))

    def test_an_organisation_protects_names_of_its_own(self):
        result = self.run_in("mkdir -p a/.acme; echo x > a/.Acme; echo x > a/.acme/start; echo 1 > ok",
                             environment=self.with_settings(protect=["runs | anywhere | .acme | acme start-up file"]))
        self.assertEqual(result["files_created"], ["ok"])
        self.assertEqual(set(self.withheld(result).values()), {"acme start-up file", "acme start-up file (with 1 file)"})

    def test_deny_read_closes_files_and_directories(self):
        self.write("a/b/.env", "secret-one")
        self.write("private/key", "secret-two")
        self.write("open", "fine")
        result = self.run_in("cat a/b/.env private/key open; ls private; chmod 777 a/b/.env; mv a/b/.env x; rm -rf private",
                             environment=self.with_settings(deny_read=["**/.env", os.path.join(self.work, "private")]))
        self.assertEqual(result["stdout"], "fine")
        self.assertIn("Permission denied", result["stderr"])
        self.assertEqual((self.read("a/b/.env"), self.read("private/key")), ("secret-one", "secret-two"))

    def test_deny_read_of_the_hosts_programs(self):
        result = self.run_in("ls /usr/share/doc", environment=self.with_settings(deny_read=["/usr/share/doc"]))
        self.assertEqual((result["stdout"], result["exit_code"]), ("", 2))

    def test_allowed_paths_are_there_and_no_others(self):
        shown, written, hidden = (self.directory(name) for name in ("shown", "written", "hidden"))
        with open(os.path.join(shown, "file"), "w", encoding="utf-8") as file:
            file.write("shown")
        result = self.run_in(f"cat {shown}/file; echo x > {shown}/new; echo y > {written}/new; ls {hidden}",
                             "--allow-read", shown, "--allow-write", written)
        self.assertEqual(result["stdout"], "shown")
        self.assertFalse(os.path.exists(os.path.join(shown, "new")))
        with open(os.path.join(written, "new"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "y\n")
        self.assertEqual(os.stat(os.path.join(written, "new")).st_uid, os.stat(written).st_uid)

    def test_deny_write_inside_of_allow_write(self):
        written = self.directory("written")
        os.mkdir(os.path.join(written, "fixed"))
        if harness.AS_USER:
            os.chown(os.path.join(written, "fixed"), harness.PLAIN_ID, harness.PLAIN_ID)
        self.run_in(f"echo 1 > {written}/ok; echo 1 > {written}/fixed/no",
                    environment=self.with_settings(allow_write=[written], deny_write=[written + "/fixed"]))
        self.assertEqual((os.listdir(os.path.join(written, "fixed")), os.path.exists(written + "/ok")), ([], True))

    def test_the_home_directory_by_its_sign(self):
        path = self.directory("cache")
        sign = "~/" + os.path.relpath(path, self.home)
        self.run_in(f"echo 1 > {path}/x", environment=self.with_settings(allow_write=[sign]))
        self.assertTrue(os.path.exists(path + "/x"))

    def test_a_dangerous_path_that_is_named_as_such(self):
        path = os.path.join(self.directory("run"), "host.sock")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path)
            os.chmod(path, 0o777)
            server.listen()
            server.settimeout(10)
            code = f"python3 -c \"import socket; s = socket.socket(socket.AF_UNIX); s.connect('{path}'); s.send(b'hi')\""
            self.assertEqual(self.shell(code, "--allow-write", path).code, 126)
            result = self.shell(code, "--allow-write", path, "--dangerously-allow", path)
            self.assertEqual(result.code, 0, result.err)

    def test_what_is_not_there_is_said(self):
        result = self.run_in("true", "--allow-read", self.home + "/nowhere")
        self.assertIn("nowhere does not exist", " ".join(result["degraded"]))


class WeakerMachineTest(WorkspaceTest):
    def pretend(self, *names):
        return {"SKERRY_PRETEND_MISSING": ",".join(names)}

    def test_without_user_namespaces_nothing_runs(self):
        result = self.run_code("print(1)", environment=self.pretend("userns"))
        self.assertEqual((result.code, result.out), (125, b""))
        self.assertIn(b"user namespaces", result.err)

    def test_without_landlock_it_runs_and_says_so(self):
        result = self.run_code("--json", "print(1)", environment=self.pretend("landlock")).json
        self.assertEqual(result["stdout"], "1\n")
        self.assertIn("landlock", " ".join(result["degraded"]))

    def test_without_cgroups_limits_hold_by_other_means_and_it_is_said(self):
        environment = self.pretend("cgroups")
        result = self.run_code("--json", "--memory", "64", "x = bytearray(10**9)\nimport time; time.sleep(5)",
                               environment=environment).json
        self.assertEqual(result["outcome"], "out_of_memory")
        for name in ("cgroup memory", "cgroup pids", "cgroup cpu"):
            self.assertIn(name, " ".join(result["degraded"]))

    def test_a_limit_that_cannot_be_kept_is_refused_in_strict_mode(self):
        environment = self.pretend("cgroups")
        result = self.run_code("--cpu", "50", "print(1)", environment=environment)
        self.assertEqual((result.code, result.out), (125, b""))
        self.assertIn(b"maxCpuPercent", result.err)
        result = self.run_code("--json", "--mode", "permissive", "-s", "native", "--cpu", "50",
                               "print(1)", environment=environment).json
        self.assertIn("cgroup cpu", " ".join(result["degraded"]))

    def test_without_overlay_strict_mode_refuses_a_persons_directory(self):
        environment = self.pretend("overlay")
        result = self.shell("touch x", "-w", self.work, environment=environment)
        self.assertEqual((result.code, os.listdir(self.work)), (125, []))
        self.assertIn(b"overlay", result.err)
        self.assertEqual(self.run_code("print(1)", environment=environment).out, b"1\n")

    def test_without_overlay_permissive_mode_writes_in_place_and_says_so(self):
        result = self.run_in("touch x", "--mode", "permissive", environment=self.pretend("overlay"))
        self.assertEqual((result["files_created"], os.listdir(self.work)), (["x"], ["x"]))
        self.assertIn("workspace", " ".join(result["degraded"]))

    def test_unknown_names_are_refused(self):
        self.assertEqual(self.run_code("print(1)", environment=self.pretend("moon")).code, 125)


def try_accept(server):
    try:
        return server.accept()
    except TimeoutError:
        return None


if __name__ == "__main__":
    harness.main()
