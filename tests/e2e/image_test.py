"""skerry image: import, list, remove and prune, and what an archive must not do."""
import gzip
import hashlib
import io
import json
import os
import platform
import pty
import shutil
import signal
import subprocess
import tarfile
import time
import zlib

import harness

EXIT_FAILED = 125
EXIT_REFUSED = 126
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def member(name, content=b"", kind=tarfile.REGTYPE, mode=0o644, link=""):
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.linkname, entry.size, entry.mtime = kind, mode, link, len(content), 1_600_000_000
    return entry, content


def tar(*members):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for entry, content in members:
            archive.addfile(entry, io.BytesIO(content) if content else None)
    return buffer.getvalue()


def digest(data):
    return hashlib.sha256(data).hexdigest()


def directory(name, mode=0o755):
    return member(name, kind=tarfile.DIRTYPE, mode=mode)


def host_rootfs():
    """A root file system with bash and what it needs, taken from this machine; None when that cannot be had."""
    bash = shutil.which("bash", path="/usr/bin:/bin")
    listing = subprocess.run(["ldd", bash], capture_output=True, text=True, check=False) if bash else None
    if listing is None or listing.returncode != 0:
        return None
    paths = {word for word in listing.stdout.split() if word.startswith("/")}
    members = [directory(name) for name in ("./", "bin", "etc", "proc", "dev", "tmp", "workspace")]
    for path in [bash, *sorted(paths)]:
        with open(path, "rb") as file:
            members.append(member("bin/bash" if path == bash else path, file.read(), mode=0o755))
    members.append(member("etc/marker", b"this is the image\n"))
    return tar(*members)


def oci_archive(layers, architecture=ARCHITECTURE):
    """As buildah, podman and docker write it: blobs first, the index last."""
    files = {}

    def blob(data):
        files[f"blobs/sha256/{digest(data)}"] = data
        return {"digest": f"sha256:{digest(data)}", "size": len(data)}

    config = {"architecture": architecture, "os": "linux", "config": {"Env": ["FROM_IMAGE=yes"], "WorkingDir": "/srv"},
              "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest(layer)}" for layer in layers]}}
    manifest = {"schemaVersion": 2, "config": blob(json.dumps(config).encode()),
                "layers": [blob(gzip.compress(layer, 1)) for layer in layers]}
    described = blob(json.dumps(manifest).encode()) | {"mediaType": "application/vnd.oci.image.manifest.v1+json"}
    files["index.json"] = json.dumps({"schemaVersion": 2, "manifests": [described]}).encode()
    files["oci-layout"] = b'{"imageLayoutVersion": "1.0.0"}'
    return tar(*(member(name, data) for name, data in files.items()))


def docker_archive(layers):
    config = json.dumps({"architecture": ARCHITECTURE, "os": "linux", "rootfs": {
        "type": "layers", "diff_ids": [f"sha256:{digest(layer)}" for layer in layers]}}).encode()
    names = [f"{digest(layer + b'x')}/layer.tar" for layer in layers]
    manifest = [{"Config": f"{digest(config)}.json", "RepoTags": ["test:latest"], "Layers": names}]
    return tar(member(f"{digest(config)}.json", config), *(member(*pair) for pair in zip(names, layers)),
               member("manifest.json", json.dumps(manifest).encode()))


class ImageTest(harness.SkerryTest):
    def setUp(self):
        super().setUp()
        shutil.rmtree(os.path.join(self.home, ".skerry"), ignore_errors=True)
        self.files = self.directory("files")

    def file(self, data, name="archive"):
        path = os.path.join(self.files, name)
        with open(path, "wb") as file:
            file.write(data)
        os.chmod(path, 0o644)
        return path

    def import_(self, data, *options, name="test"):
        return self.skerry("image", "import", *options, name, self.file(data))

    def listed(self):
        return self.skerry("image", "list", "--json").json

    def store(self, *parts):
        return os.path.join(self.home, ".skerry", "images", *parts)

    def root(self, name="test"):
        identifier = next(image["id"] for image in self.listed() if image["name"] == name)
        return self.store("trees", identifier, "root")

    def incoming(self):
        return [name for name in os.listdir(self.store()) if name.startswith("incoming-")]


class ImportTest(ImageTest):
    def test_import_list_remove(self):
        result = self.import_(tar(member("etc/os-release", b"x"), member("dev/null", kind=tarfile.CHRTYPE)), name="a/b:1")
        self.assertEqual((result.code, result.err), (0, b""))
        self.assertIn(b"left out: 1 devices", result.out)
        image, = self.listed()
        self.assertEqual((image["name"], image["source"], image["skipped"]), ("a/b:1", "rootfs", 1))
        self.assertIn(b"a/b:1", self.skerry("image", "list").out)
        self.assertEqual(self.skerry("image", "remove", "a/b:1").code, 0)
        self.assertEqual(self.listed(), [])
        self.assertEqual(os.listdir(self.store("trees")), [])

    def test_import_as_json_is_what_the_list_shows(self):
        result = self.import_(tar(member("f", b"x")), "--json")
        self.assertEqual(result.json, self.listed()[0])

    def test_compressed_archives_are_the_same_image(self):
        plain = tar(member("f", b"x" * 100_000))
        forms = {"plain": plain, "gzip": gzip.compress(plain)}
        if shutil.which("zstd"):
            forms["zstd"] = subprocess.run(["zstd", "-qc"], input=plain, capture_output=True, check=True).stdout
        for name, data in forms.items():
            self.assertEqual(self.import_(data, name=name).code, 0, name)
        self.assertEqual(len({image["id"] for image in self.listed()}), 1)
        self.assertEqual(len(os.listdir(self.store("trees"))), 1)

    def test_what_tar_itself_writes_is_read(self):
        source = self.directory("source")
        long_name = "n" * 200
        os.makedirs(os.path.join(source, "deep", long_name, long_name))
        with open(os.path.join(source, "deep", long_name, long_name, "file"), "wb") as file:
            file.write(b"content")
        os.link(os.path.join(source, "deep", long_name, long_name, "file"), os.path.join(source, "hard"))
        os.symlink("/deep/" + long_name, os.path.join(source, "link"))
        for form in ("gnu", "pax", "posix"):
            data = subprocess.run(["tar", f"--format={form}", "-C", source, "-c", "."], capture_output=True, check=True)
            result = self.import_(data.stdout, name=form)
            self.assertEqual(result.code, 0, result.err)
            root = self.root(form)
            self.assertEqual(os.readlink(os.path.join(root, "link")), "/deep/" + long_name)
            self.assertEqual(os.stat(os.path.join(root, "hard")).st_nlink, 2)

    def test_images_of_docker_and_oci(self):
        layers = [tar(member("etc/gone", b"x"), member("etc/kept", b"lower")),
                  tar(member("etc/.wh.gone"), member("etc/kept", b"upper"))]
        for name, data in (("oci", oci_archive(layers)), ("docker", docker_archive(layers)),
                           ("compressed", gzip.compress(docker_archive(layers)))):
            result = self.import_(data, name=name)
            self.assertEqual(result.code, 0, result.err)
            with open(os.path.join(self.root(name), "etc", "kept"), "rb") as file:
                self.assertEqual(file.read(), b"upper")
            self.assertFalse(os.path.exists(os.path.join(self.root(name), "etc", "gone")))
        images = {image["name"]: image for image in self.listed()}
        self.assertEqual(images["oci"]["id"], images["docker"]["id"])
        self.assertEqual(images["oci"]["environment"], ["FROM_IMAGE=yes"])
        self.assertEqual(images["oci"]["working_directory"], "/srv")

    def test_an_image_for_another_machine_is_refused(self):
        result = self.import_(oci_archive([tar(member("f"))], architecture="s390x"))
        self.assertEqual(result.code, EXIT_FAILED)
        self.assertIn(b"s390x", result.err)

    def test_modes_do_not_depend_on_the_umask_and_set_id_bits_are_dropped(self):
        data = tar(directory("open", 0o1777), member("setuid", mode=0o6755), member("all", mode=0o666))
        process = subprocess.run(["sh", "-c", 'umask 077; exec "$@"', "sh",
                                  *self.command("image", "import", "test", self.file(data))],
                                 capture_output=True, env=self.environment(), cwd=self.home, check=False)
        self.assertEqual(process.returncode, 0, process.stderr)
        modes = {name: os.lstat(os.path.join(self.root(), name)).st_mode & 0o7777 for name in os.listdir(self.root())}
        self.assertEqual(modes, {"open": 0o777, "setuid": 0o755, "all": 0o666})

    def test_importing_a_name_again_moves_it(self):
        self.import_(tar(member("one")))
        self.import_(tar(member("two")))
        self.assertEqual(os.listdir(self.root()), ["two"])
        self.assertEqual(len(os.listdir(self.store("trees"))), 1)

    def test_the_store_is_closed_to_others(self):
        self.import_(tar(member("f")))
        self.assertEqual(os.stat(self.store()).st_mode & 0o777, 0o700)


class HostileArchiveTest(ImageTest):
    def setUp(self):
        super().setUp()
        self.outside = self.directory("outside")
        self.precious = os.path.join(self.outside, "precious")
        with open(self.precious, "wb") as file:
            file.write(b"precious")
        os.chmod(self.precious, 0o666)
        os.chmod(self.outside, 0o777)

    def assert_harmless(self, data, *, refused):
        result = self.import_(data)
        with open(self.precious, "rb") as file:
            self.assertEqual(file.read(), b"precious")
        self.assertEqual(os.stat(self.precious).st_nlink, 1)
        self.assertEqual(os.listdir(self.outside), ["precious"])
        if refused:
            self.assertIn(result.code, (EXIT_FAILED, EXIT_REFUSED), result.out)
            self.assertRegex(result.err, rb"^skerry: [^\x1b]+\n$")
            self.assertEqual(self.listed(), [])
            self.assertEqual(os.listdir(self.store("trees")), [])
            self.assertEqual(self.incoming(), [])
        else:
            self.assertEqual(result.code, 0, result.err)
        return result

    def test_names_that_lead_out(self):
        for name in ("../../../../outside-file", "a/../../x", "..", "/../x", self.outside + "/../x"):
            result = self.assert_harmless(tar(member("good"), member(name, b"x")), refused=True)
            self.assertEqual(result.code, EXIT_REFUSED, name)
            self.assertIn(b"'..'", result.err)

    def test_links_that_lead_out(self):
        link = {"kind": tarfile.SYMTYPE, "mode": 0o777}
        self.assert_harmless(tar(member("l", link=self.outside, **link), member("l/precious", b"x")), refused=True)
        self.assert_harmless(tar(member("l", link="../" * 20 + self.outside[1:], **link), member("l/precious", b"x")),
                             refused=True)
        self.assert_harmless(tar(member("l", link=self.precious, **link), member("l", b"x")), refused=False)

    def test_hard_links_that_lead_out(self):
        hard = {"kind": tarfile.LNKTYPE}
        self.assert_harmless(tar(member("h", link=self.precious, **hard)), refused=True)
        self.assert_harmless(tar(member("h", link="../" * 20 + self.precious[1:], **hard)), refused=True)
        self.assert_harmless(tar(member("l", kind=tarfile.SYMTYPE, link=self.precious), member("h", link="l", **hard)),
                             refused=True)

    def test_an_absolute_name_lands_inside(self):
        self.assert_harmless(tar(member(self.precious, b"mine")), refused=False)
        with open(self.root() + self.precious, "rb") as file:
            self.assertEqual(file.read(), b"mine")

    def test_a_name_does_not_move_the_cursor(self):
        result = self.assert_harmless(tar(member("\x1b[2J\n../x/../y", b"x")), refused=True)
        self.assertIn(rb"\u001b", result.err)

    def test_what_is_damaged_or_no_archive(self):
        good = tar(member("f", b"x" * 5000))
        for data in (b"", b"hello", b"\0" * 10, good[:3000], good[:512], gzip.compress(good)[:-10],
                     gzip.compress(good) + b"garbage", good + b"garbage", b"\x1f\x8b", b"\x28\xb5\x2f\xfd",
                     b"BZh9" + b"x" * 100, b"PK\x03\x04", os.urandom(5000)):
            self.assert_harmless(data, refused=True)

    def test_an_image_that_was_changed(self):
        layer = tar(member("f", b"good"))
        changed = docker_archive([layer]).replace(b"good", b"evil")
        self.assertIn(b"digest", self.assert_harmless(changed, refused=True).err)

    @harness.once
    def test_more_than_the_limit(self):
        entry, _ = member("zeros")
        entry.size = 1100 << 20
        squeeze = zlib.compressobj(1, zlib.DEFLATED, 31)
        data = squeeze.compress(entry.tobuf())
        for _ in range(1100):
            data += squeeze.compress(bytes(1 << 20))
        data += squeeze.compress(bytes(1024)) + squeeze.flush()
        result = self.import_(data, "--max-size", "1")
        self.assertEqual(result.code, EXIT_FAILED)
        self.assertIn(b"--max-size", result.err)
        self.assertEqual(os.listdir(self.store("trees")) + self.incoming(), [])


class MisuseTest(ImageTest):
    def test_errors_say_what_to_do(self):
        good = self.file(tar(member("f")))
        os.mkfifo(os.path.join(self.files, "fifo"))
        os.chmod(os.path.join(self.files, "fifo"), 0o666)
        for arguments, words in ((("import", "Bad Name", good), b"cannot be the name"),
                                 (("import", "x", "-"), b"save it to a file first"),
                                 (("import", "x", os.path.join(self.files, "fifo")), b"save it to a file first"),
                                 (("import", "x", self.files), b"tar -C"),
                                 (("import", "x", "/nowhere"), b"/nowhere"),
                                 (("import", "x"), b"--help"),
                                 (("import", "--max-size", "0", "x", good), b"--help"),
                                 (("remove", "none"), b"skerry image list"),
                                 (("remove", "../../x"), b"cannot be the name"),
                                 ((), b"--help")):
            result = self.skerry("image", *arguments)
            self.assertEqual(result.code, EXIT_FAILED, arguments)
            self.assertIn(words, result.err)
            self.assertEqual(result.err.count(b"\n"), 1, result.err)
            self.assertEqual(result.out, b"")

    def test_help_has_examples(self):
        for command in ("import", "list", "remove", "prune"):
            self.assertIn(b"Example", self.skerry("image", command, "--help").out)

    def test_a_store_that_others_may_change_is_refused(self):
        self.skerry("image", "list")
        os.chmod(self.store(), 0o777)
        result = self.skerry("image", "list")
        self.assertEqual(result.code, EXIT_REFUSED)
        self.assertIn(b"0700", result.err)


class InterruptionTest(ImageTest):
    def start(self, stderr=subprocess.PIPE):
        """An import that is under way and takes a while."""
        path = self.file(tar(*(member(f"d{i % 100}/f{i}", b"x" * 2000) for i in range(30_000))))
        process = subprocess.Popen(self.command("image", "import", "test", path), stderr=stderr,
                                   stdout=subprocess.PIPE, env=self.environment({"TERM": "xterm"}), cwd=self.home)
        deadline = time.monotonic() + 30
        while not (os.path.isdir(self.store()) and any(
                os.path.exists(self.store(name, "root", "d0")) for name in self.incoming())):
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(process.poll(), "it was too quick for this test")
        return process

    def test_ctrl_c_leaves_nothing(self):
        process = self.start()
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, error)
        self.assertIn(b"stopped", error)
        self.assertEqual((self.incoming(), self.listed()), ([], []))

    def test_what_a_killed_import_left_goes_with_the_next_command(self):
        process = self.start()
        process.kill()
        process.communicate(timeout=60)
        self.assertEqual(len(self.incoming()), 1)
        self.assertEqual(self.listed(), [])
        self.assertEqual(self.skerry("image", "prune", "--json").json["removed_imports"], 1)
        self.assertEqual(self.incoming(), [])

    def test_progress_is_shown_on_a_terminal_only(self):
        path = self.file(tar(*(member(f"f{i}", b"x" * 500_000) for i in range(200))))
        result = self.skerry("image", "import", "test", path, environment={"TERM": "xterm"})
        self.assertEqual((result.code, result.err), (0, b""))
        ours, theirs = pty.openpty()
        process = self.start(stderr=theirs)
        os.close(theirs)
        # Only what takes half a second is shown: this one takes that on any machine.
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.6)
        process.send_signal(signal.SIGCONT)
        shown = b""
        while True:
            try:
                data = os.read(ours, 10_000)
            except OSError:
                data = b""
            if not data:
                break
            shown += data
        os.close(ours)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertRegex(shown, rb"imported [0-9.]+ MB, [0-9]+ files")
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown)


class RunInImageTest(ImageTest):
    """The image as the root of a sandbox."""

    def setUp(self):
        super().setUp()
        if b"--image" not in self.skerry("run", "--help").out:
            self.skipTest("skerry run has no --image yet")
        data = host_rootfs()
        if data is None:
            self.skipTest("there is no bash here that ldd can read")
        result = self.import_(data)
        self.assertEqual(result.code, 0, result.err)

    def test_the_files_are_those_of_the_image(self):
        result = self.shell("read line < /etc/marker; echo \"$line\"; echo /usr/bin/*; echo /etc/*", "--image", "test")
        self.assertEqual((result.code, result.err), (0, b""), result.err)
        self.assertTrue(result.out.startswith(b"this is the image\n/usr/bin/*\n"), result.out)

    def test_the_image_cannot_be_changed(self):
        for path in ("/new", "/etc/marker", "/bin/bash"):
            self.shell(f"echo x > {path}", "--image", "test")
        self.assertFalse(os.path.exists(os.path.join(self.root(), "new")))
        with open(os.path.join(self.root(), "etc", "marker"), "rb") as file:
            self.assertEqual(file.read(), b"this is the image\n")

    def test_an_image_that_is_not_there(self):
        result = self.shell("true", "--image", "none")
        self.assertEqual(result.code, EXIT_FAILED)
        self.assertIn(b"skerry image list", result.err)

    def test_an_image_in_use_can_be_removed_and_goes_afterwards(self):
        work = self.directory("work")
        process = subprocess.Popen(
            self.command("run", "--language", "shell", "--image", "test", "--workspace", work,
                         "echo started; read line; read line < /etc/marker; echo \"$line\""),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment(), cwd=self.home)
        self.assertEqual(process.stdout.readline(), b"started\n")
        removal = self.skerry("image", "remove", "test")
        self.assertEqual(removal.code, 0, removal.err)
        self.assertIn(b"in use", removal.out)
        self.assertEqual(len(os.listdir(self.store("trees"))), 1)
        out, error = process.communicate(b"\n", timeout=60)
        self.assertEqual(out, b"this is the image\n", error)
        self.assertEqual(self.skerry("image", "prune", "--json").json["removed_images"], 1)
        self.assertEqual(os.listdir(self.store("trees")), [])

    def test_links_of_the_image_lead_to_its_own_files(self):
        layer = tar(member("etc/passwd", kind=tarfile.SYMTYPE, link="../../../../../../../etc/hostname"),
                    member("link", kind=tarfile.SYMTYPE, link="/etc/marker"))
        self.import_(oci_archive([host_rootfs(), layer]), name="links")
        result = self.shell("read line < /link; echo \"$line\"", "--image", "links")
        self.assertEqual(result.out, b"this is the image\n", result.err)


if __name__ == "__main__":
    harness.main()
