// What the analysis of Python finds (S2.3), in every spelling, and what it does not report.
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/risk_policy.hpp"
#include "policy/test_rows.hpp"

namespace skerry::policy {
namespace {

using ::testing::Contains;
using ::testing::Field;
using enum core::RiskLevel;

core::RiskAssessment Assess(std::string_view code) {
  return RiskPolicy().Assess(core::Language::kPython, code);
}

void Check(const std::vector<Row>& rows) {
  CheckRows(core::Language::kPython, rows);
}

TEST(PythonAnalysisTest, TheDocumentsExpressionsHold) {
  Check({{"__import__('os')", kCritical, "python.dynamic-import"},
         {"eval('1')", kCritical, "python.eval"},
         {"exec(x)", kCritical, "python.eval"},
         {"compile(x, 'f', 'exec')", kCritical, "python.eval"},
         {"__builtins__", kCritical, "python.builtins"},
         {"getattr(x, '__class__')", kCritical, "python.reflection"},
         {"os.system('ls')", kCritical, "python.system"},
         {"subprocess.run(['ls'])", kCritical, "python.subprocess"},
         {"x.popen('ls')", kCritical, "python.system"},
         {"open('f', 'w')", kHigh, "python.file-write"},
         {"f.write('x')", kHigh, "python.write-call"},
         {"import shutil", kHigh, "python.shutil"},
         {"import requests", kHigh, "python.network"},
         {"import urllib", kHigh, "python.network"},
         {"import socket", kHigh, "python.network"},
         {"import os", kHigh, "python.import-system"},
         {"from sys import path", kHigh, "python.import-system"},
         {"import ctypes", kHigh, "python.import-system"},
         {"import pickle", kHigh, "python.unpickle"},
         {"open('f')", kMedium, "python.file-read"},
         {"open('f', 'r').read()", kMedium, "python.file-read"},
         {"f.read()", kMedium, "python.read-call"},
         {"json.load(f)", kMedium, "python.json-load"},
         {"os.environ['HOME']", kMedium, "python.environment"}});
}

TEST(PythonAnalysisTest, TextsAndCommentsAreNoCode) {
  Check({{"# eval(x)", kSafe},
         {"'''Never calls os.system or eval(x).'''", kSafe},
         {"print('rm -rf / and __import__(1)')", kSafe},
         {"x = f'eval({y})'", kSafe},
         {"x = f'{eval(y)}'", kCritical, "python.eval"},
         {"x = f'{1:{eval(y)}}'", kCritical, "python.eval"}});
}

TEST(PythonAnalysisTest, NamesThatMerelyContainAWordAreOthers) {
  Check({{"evaluate(x)", kSafe},
         {"my_eval(x)", kSafe},
         {"reprocess.run(x)", kSafe},
         {"f(eval=True)", kSafe},
         {"def f(eval): return eval(1)", kSafe},
         {"x.eval = 1", kSafe},
         {"class A:\n  def exec(self): pass", kSafe}});
}

TEST(PythonAnalysisTest, MethodsOfOtherThingsAreOthers) {
  Check({{"import re\nre.compile('x')", kSafe},
         {"model.eval()", kSafe},
         {"df.eval('a + b')", kSafe},
         {"cursor.execute('select 1')", kSafe},
         {"import ast\nast.literal_eval('1')", kSafe},
         {"import platform\nplatform.system()", kSafe},
         {"df.os.replace('a', 'b')", kSafe},
         {"from scipy import signal\nsignal.butter(4, 0.2)", kSafe},
         {"json.loads('1')", kSafe}});
}

TEST(PythonAnalysisTest, WritingToOutputOrMemoryIsHarmless) {
  Check({{"import io\nf = io.StringIO()\nf.write('x')", kSafe},
         {"from io import BytesIO\nwith BytesIO() as f:\n  f.write(b'x')", kSafe},
         {"import io, zipfile\nzipfile.ZipFile(io.BytesIO(), 'w')", kSafe},
         {"def f(sys): sys.stdout.write('x')", kHigh, "python.write-call"},
         {"class A:\n  def write(self, x): pass\n  def f(self): self.write(1)", kSafe},
         {"class A:\n  def f(self): self.write(1)", kHigh, "python.write-call"}});
  const auto assessment = Assess("import sys\nsys.stdout.write('x')");
  EXPECT_THAT(assessment.findings, Not(Contains(Field(&core::Finding::rule, "python.write-call"))));
}

TEST(PythonAnalysisTest, AliasesAreFollowed) {
  Check({{"from os import system as s\ns(x)", kCritical, "python.system"},
         {"import os as o\no.system(x)", kCritical, "python.system"},
         {"import os\na = b = os\nb.system(x)", kCritical, "python.system"},
         {"import os\n(a, b), c = (os, 1), 2\ngetattr(a, n)", kCritical, "python.reflection"},
         {"import os\nm: object = os\ngetattr(m, n)", kCritical, "python.reflection"},
         {"import os\nm = os if x else None\ngetattr(m, n)", kCritical, "python.reflection"},
         {"import os\nm = os or None\ngetattr(m, n)", kCritical, "python.reflection"},
         {"import os\n(m := os).system(x)", kCritical, "python.system"},
         {"import os\ndef f(m=os): m.system(x)", kCritical, "python.system"},
         {"import os\nfor m in [os]: getattr(m, n)", kCritical, "python.reflection"},
         {"import os\nfor m, n in [(os, 'system')]: getattr(m, n)", kCritical, "python.system"},
         {"import os\nwith x(os) as m: m.system(y)", kCritical, "python.system"},
         {"def f():\n  global m\n  import os as m\ndef g(): m.system(x)", kCritical, "python.system"},
         {"from os import *\nsystem(x)", kCritical, "python.system"},
         {"import pathlib\npathlib.os.system(x)", kCritical, "python.system"},
         {"import logging\nvars(logging)['os'].system(x)", kCritical, "python.system"}});
}

TEST(PythonAnalysisTest, BuiltinsCountWhereverTheyAreMentioned) {
  Check({{"map(eval, xs)", kCritical, "python.eval"},
         {"fs = [exec]", kCritical, "python.eval"},
         {"@eval\ndef f(): pass", kCritical, "python.eval"},
         {"f = lambda s: eval(s)", kCritical, "python.eval"},
         {"(e := eval)(x)", kCritical, "python.eval"},
         {"import builtins\nbuiltins.exec(x)", kCritical, "python.eval"},
         {"from builtins import eval as e", kCritical, "python.eval"},
         {"class A(eval(x)): pass", kCritical, "python.eval"},
         {"def f(x: eval(y)) -> eval(z): pass", kCritical, "python.eval"}});
}

TEST(PythonAnalysisTest, AnOwnFunctionOfTheNameIsNotTheBuiltin) {
  Check({{"def eval(x): return x\neval(1)", kSafe},
         {"from re import compile\ncompile('x')", kSafe},
         {"def f():\n  exec = g()\n  exec(1)", kSafe}});
}

TEST(PythonAnalysisTest, ABindingThatMayNotHoldLeavesTheBuiltin) {
  Check({{"eval(x)\neval = 1", kCritical, "python.eval"},
         {"if y:\n  eval = 1\neval(x)", kCritical, "python.eval"},
         {"for eval in []: pass\neval(x)", kCritical, "python.eval"},
         {"eval = 1\ndel eval\neval(x)", kCritical, "python.eval"},
         {"eval = 1\ntry: f()\nexcept E as eval: pass\neval(x)", kCritical, "python.eval"},
         {"class A:\n  eval = 1\n  def f(self): eval(x)", kCritical, "python.eval"},
         {"def g(): eval = 1\neval(x)", kCritical, "python.eval"}});
}

TEST(PythonAnalysisTest, MembersByTextAreMembers) {
  Check({{"import os\ngetattr(os, 'sys' + 'tem')(x)", kCritical, "python.system"},
         {"import os\ngetattr(os, n)", kCritical, "python.reflection"},
         {"import os\ngetattr(os, 'name')", kHigh, "python.import-system"},
         {"import os\nn = 'name'\nn = 'system'\ngetattr(os, n)", kCritical, "python.system"},
         {"import os\nn = 'sys'\nn += 'tem'\ngetattr(os, n)", kCritical, "python.reflection"},
         {"import os\nfor n in ['a','b','c','d','e','f','g','h','i','system']: getattr(os, n)", kCritical,
          "python.reflection"},
         {"import os\nos.__dict__['system']", kCritical, "python.system"},
         {"import os\nvars(os).get('system')", kCritical, "python.system"},
         {"import os\nd = {**vars(os)}", kCritical, "python.reflection"},
         {"import os\ng = os.__dict__.get", kCritical, "python.reflection"},
         {"f(**locals())\ngetattr(x, n)", kSafe},
         {"import os\nos.__dict__[n]", kCritical, "python.reflection"},
         {"__builtins__['eval']", kCritical, "python.builtins"},
         {"globals()['ev' + 'al']", kCritical, "python.eval"},
         {"globals().get('eval')", kCritical, "python.eval"},
         {"globals()[n]", kCritical, "python.reflection"},
         {"globals()[n] = 1", kSafe},
         {"import sys\nsys.modules['os'].system(x)", kCritical, "python.system"},
         {"import sys\nsys.modules[__name__]", kHigh, "python.import-system"},
         {"getattr(x, 'name')", kSafe},
         {"getattr(x, n)", kSafe},
         {"vars(args)[k]", kSafe}});
}

TEST(PythonAnalysisTest, AModuleThatIsHandedOnCanBeAnything) {
  Check({{"import os\nf([os])\ngetattr(x, n)", kCritical, "python.reflection"},
         {"import os\ndef g(): return os\ngetattr(g(), 'system')", kCritical, "python.reflection"},
         {"import os\nf(os)\nmap(getattr, xs, ys)", kCritical, "python.reflection"},
         {"import os, operator\nf(os)\noperator.attrgetter(n)", kCritical, "python.reflection"},
         {"import os\nprint(hasattr(os, 'fork'))\ngetattr(x, n)", kHigh, "python.import-system"},
         {"import os\nf(os)\nx['system'](y)", kCritical, "python.reflection"},
         {"import subprocess\nf(subprocess)", kCritical, "python.subprocess"},
         {"import subprocess", kHigh, "python.import-system"},
         {"map(open, names, modes)", kHigh, "python.file-write"}});
}

TEST(PythonAnalysisTest, ANameThatIsPutTogetherHidesSomething) {
  Check({{"getattr(x, 'sys' + 'tem')", kCritical, "python.reflection"},
         {"x = 'ev' 'al'", kCritical, "python.reflection"},
         {"x = f\"{'sub'}process\"", kCritical, "python.reflection"},
         {"x = 'lave'[::-1]", kCritical, "python.reflection"},
         {"import base64\nx = base64.b64decode('c3lzdGVt')", kCritical, "python.reflection"},
         {"role = 'system'\nprint(f'{role}')", kSafe},
         {"x = 'system' + ' call'", kSafe}});
}

TEST(PythonAnalysisTest, DynamicImportsAreCritical) {
  Check({{"import importlib\nimportlib.import_module(x)", kCritical, "python.dynamic-import"},
         {"from importlib import import_module as i\ni('os').system(x)", kCritical, "python.system"},
         {"import importlib._bootstrap as b\nb._gcd_import('os')", kCritical, "python.dynamic-import"},
         {"spec.loader.exec_module(m)", kCritical, "python.dynamic-import"},
         {"import importlib.util\nimportlib.util.find_spec('numpy')", kSafe},
         {"import importlib.metadata\nimportlib.metadata.version('x')", kSafe}});
}

TEST(PythonAnalysisTest, TheInterpretersObjectsAreCritical) {
  Check({{"x.__subclasses__()", kCritical, "python.internals"},
         {"f.__globals__", kCritical, "python.internals"},
         {"getattr(f, '__code__')", kCritical, "python.reflection"},
         {"class A:\n  def __getattribute__(self, n): return super().__getattribute__(n)", kSafe},
         {"x.__class__.__name__", kSafe},
         {"import ctypes\nctypes.CDLL('x')", kCritical, "python.native-code"},
         {"import types\nisinstance(f, types.FunctionType)", kSafe},
         {"import types\ntypes.FunctionType(c, {})", kCritical, "python.eval"}});
}

TEST(PythonAnalysisTest, TimingAFunctionIsHarmlessAndTimingATextIsNot) {
  Check({{"import timeit\ntimeit.timeit(lambda: f())", kSafe},
         {"import timeit\ndef f(): pass\ntimeit.timeit(f, number=3)", kSafe},
         {"import timeit\ntimeit.timeit(text())", kCritical, "python.eval"},
         {"import timeit\ntimeit.timeit('f()', setup='import os')", kCritical, "python.import-system"}});
}

TEST(PythonAnalysisTest, NamesOfTheLibraryThatRunOrLoadCodeAreFound) {
  Check({{"import pydoc\npydoc.pipepager(t, 'sh')", kCritical, "python.system"},
         {"import site\nsite.addsitedir(d)", kCritical, "python.run-file"},
         {"import site\nsite.getsitepackages()", kSafe},
         {"import pipes\npipes.Template()", kCritical, "python.system"},
         {"import pipes\npipes.quote(x)", kSafe},
         {"import cProfile\np = cProfile.Profile()\np.run(x)", kCritical, "python.eval"},
         {"import cProfile\np = cProfile.Profile()\np.enable()", kSafe},
         {"breakpoint()", kCritical, "python.run-file"},
         {"import unittest\nunittest.defaultTestLoader.discover(d)", kCritical, "python.run-file"},
         {"import unittest\nunittest.main()", kSafe},
         {"import tkinter\ntkinter.Tk().tk.call('exec', 'id')", kHigh, "python.tcl"},
         {"import tkinter\ntkinter.Tk().mainloop()", kSafe},
         {"c.load_extension(x)", kCritical, "python.native-code"},
         {"import ctypes\nctypes.c_char.from_address(0)", kCritical, "python.native-code"},
         {"wallet.from_address(x)", kSafe},
         {"import gc\ngc.get_objects()", kHigh, "python.heap-walk"},
         {"import gc\ngc.collect()", kSafe},
         {"get_ipython().system('rm -rf /')", kCritical, "shell.remove-system"},
         {"get_ipython().run_line_magic('matplotlib', 'inline')", kMedium, "python.magic"},
         {"from setuptools import setup\nsetup(name='x')", kHigh, "python.build"},
         {"import asyncio\nasyncio.new_event_loop().create_server(p)", kHigh, "python.network"},
         {"cloud.create_server(p)", kSafe},
         {"import dbm\ndbm.open('f', 'c')", kHigh, "python.file-write"},
         {"import logging\nlogging.FileHandler('f')", kMedium, "python.library-write"}});
}

TEST(PythonAnalysisTest, ModulesThatTheLibraryHasAsMembersAreFollowed) {
  Check({{"import inspect\ninspect.importlib.import_module(x)", kCritical, "python.dynamic-import"},
         {"import tempfile\ntempfile._shutil.copy(a, b)", kHigh, "python.shutil"},
         {"from tracemalloc import pickle\npickle.loads(x)", kHigh, "python.unpickle"}});
}

TEST(PythonAnalysisTest, ATextThatNamesAModuleImportsIt) {
  Check({{"help('os')", kHigh, "python.import-system"},
         {"import pydoc\npydoc.render_doc('ctypes')", kHigh, "python.import-system"},
         {"import unittest\nunittest.main(module='pickle')", kHigh, "python.unpickle"},
         {"import importlib.resources as r\nr.files('socket')", kHigh, "python.network"},
         {"help(str)", kSafe},
         {"help('math')", kSafe},
         {"import unittest\nunittest.TestLoader().loadTestsFromName(__name__)", kSafe},
         {"import pydoc\npydoc.render_doc(x)", kSafe}});
}

TEST(PythonAnalysisTest, TextsThatOthersRunAreCode) {
  Check({{"import doctest\ndef f():\n  '''\n  >>> eval(x)\n  '''\ndoctest.testmod()", kCritical, "python.eval"},
         {"import doctest\ndef f():\n  '''\n  >>> for i in x:\n  ...   exec(i)\n  '''\ndoctest.testmod()", kCritical,
          "python.eval"},
         {"def f():\n  '''\n  >>> eval(x)\n  '''", kSafe},
         {"import doctest\ndef f():\n  '''Not eval(x).\n\n  >>> f()\n  1\n  '''\ndoctest.testmod()", kSafe},
         {"import typing\ndef f(x: 'eval(y)'): pass\ntyping.get_type_hints(f)", kCritical, "python.eval"},
         {"import typing\nclass A:\n  x: list['eval(y)']\ntyping.get_type_hints(A)", kCritical, "python.eval"},
         {"import typing\ndef f(x: 'list[int]'): return 'eval(y)'\ntyping.get_type_hints(f)", kSafe},
         {"import logging.config\nlogging.config.dictConfig({'()': 'os.system'})", kCritical, "python.system"},
         {"import logging.config\nlogging.config.dictConfig({'class': 'logging.StreamHandler'})", kSafe}});
}

TEST(PythonAnalysisTest, AnOptionCanMakeACallGraver) {
  Check({{"import numpy as np\nnp.load('f', allow_pickle=True)", kHigh, "python.unpickle"},
         {"import numpy as np\nnp.load('f', None, p)", kHigh, "python.unpickle"},
         {"import numpy as np\nnp.load('f', allow_pickle=False)", kSafe},
         {"import fileinput\nfileinput.input('f', inplace=True)", kHigh, "python.file-write"},
         {"import fileinput\nfileinput.input('f')", kMedium, "python.read-call"},
         {"import argparse\np.add_argument('x', type=argparse.FileType('w'))", kHigh, "python.file-write"},
         {"import argparse\nargparse.ArgumentParser()", kSafe}});
}

TEST(PythonAnalysisTest, UnpackingAnArchiveWritesFiles) {
  Check({{"import tarfile\ntarfile.open('a.tar').extractall()", kHigh, "python.write-call"},
         {"from zipfile import ZipFile\nwith ZipFile('a.zip') as z: z.extract('b')", kHigh, "python.write-call"},
         {"import zipfile\ndf.name.str.extractall('a')", kSafe},
         {"import pandas\nparser.extract(x)", kSafe},
         {"import zipfile\nzipfile.ZipFile('a.zip').namelist()", kMedium, "python.file-read"}});
}

TEST(PythonAnalysisTest, AnUnknownMemberOfAModuleWithoutGraveOnesIsHarmless) {
  Check({{"import logging\ngetattr(logging, level)", kSafe},
         {"import numpy as np\ngetattr(np, name)(x)", kSafe},
         {"import operator\ngetattr(operator, name)(x, y)", kSafe},
         {"import pydoc\ngetattr(pydoc, name)", kCritical, "python.reflection"},
         {"import sys\ngetattr(sys, name)", kCritical, "python.reflection"},
         {"import io\ngetattr(io, name)", kCritical, "python.reflection"},
         {"import timeit\ngetattr(timeit, name)", kCritical, "python.reflection"}});
}

TEST(PythonAnalysisTest, TheModeOfOpenDecides) {
  Check({{"open('f', 'rb')", kMedium, "python.file-read"},
         {"open('f', mode='a')", kHigh, "python.file-write"},
         {"open('f', 'r+')", kHigh, "python.file-write"},
         {"open('f', m)", kHigh, "python.file-write"},
         {"open(*args)", kHigh, "python.file-write"},
         {"o = open\no('f', 'w')", kHigh, "python.file-write"},
         {"import gzip\ngzip.open('f', 'wb')", kHigh, "python.file-write"},
         {"import tarfile\ntarfile.open('f', 'r:gz')", kMedium, "python.file-read"},
         {"import tarfile\ntarfile.open('f', 'w:gz')", kHigh, "python.file-write"},
         {"from pathlib import Path\nPath('f').open('w')", kHigh, "python.file-write"},
         {"webdriver.open('page')", kSafe}});
}

TEST(PythonAnalysisTest, PathsAndLibrariesReachFiles) {
  Check({{"from pathlib import Path\nPath('f').write_text('x')", kHigh, "python.write-call"},
         {"from pathlib import Path\nPath.write_text(p, 'x')", kHigh, "python.write-call"},
         {"from pathlib import Path\nw = Path('f').write_text", kHigh, "python.write-call"},
         {"from pathlib import Path\n(Path('a') / 'b').rename('c')", kHigh, "python.file-delete"},
         {"from pathlib import Path\nPath('f').read_text()", kMedium, "python.read-call"},
         {"from pathlib import Path\nprint(Path('a') / 'b')", kSafe},
         {"df.to_csv('f')", kMedium, "python.library-write"},
         {"print(df.to_csv())", kSafe},
         {"pd.read_csv('f')", kMedium, "python.data-read"},
         {"df.rename(columns=c)", kSafe}});
}

TEST(PythonAnalysisTest, LettersThatOnlyLookDifferentAreTheSame) {
  Check({{"ᵉval(x)", kCritical, "python.eval"},
         {"𝐞𝐱𝐞𝐜(x)", kCritical, "python.eval"},
         {"eⅴal(x)", kCritical, "python.eval"},
         {"import ᵒs", kHigh, "python.import-system"},
         {"from ºs import ſyﬆem", kCritical, "python.system"},
         {"import os\n𝗲 = os\ngetattr(e, n)", kCritical, "python.reflection"}});
}

TEST(PythonAnalysisTest, CodeThatPythonReadsDifferentlyThanItLooksIsFound) {
  Check({{"x = 1  # \reval(y)", kCritical, "python.eval"},
         {"# coding: utf-7\n# +AAo-", kCritical, "python.encoding"},
         {"#!/usr/bin/python\n# -*- coding: unicode_escape -*-", kCritical, "python.encoding"},
         {"# -*- coding: utf-8 -*-\nx = 1", kSafe},
         {"import os\nos.\\\nsystem(x)", kCritical, "python.system"},
         {"import os; x = 1; os.system(x)", kCritical, "python.system"},
         {"\xEF\xBB\xBF"
          "eval(x)",
          kCritical, "python.eval"}});
}

TEST(PythonAnalysisTest, WhatDoesNotParseIsAtLeastMediumAndSearchedForNames) {
  Check({{"x = = 1", kMedium, "code.unparsed"},
         {"x = `y`", kMedium, "code.unparsed"},
         {"x = `eval(y)`", kCritical, "python.eval"},
         {"def f(:\n  os.system(x)\n", kCritical, "python.system"},
         {"exec \"print 1\"", kCritical, "python.eval"}});
}

TEST(PythonAnalysisTest, CodeInCodeIsAssessedInItsLanguage) {
  Check({{"eval('open(\"f\", \"w\")')", kCritical, "python.file-write"},
         {"os.system('rm -rf /')", kCritical, "shell.remove-system"},
         {"subprocess.run('curl http://x | sh', shell=True)", kCritical, "shell.download-run"}});
  EXPECT_EQ(Assess("os.system(f'rm -rf / {x}')").suggested_sandbox, core::SuggestedSandbox::kReject);
  EXPECT_EQ(Assess("subprocess.run(['rm', '-rf', '/'])").suggested_sandbox, core::SuggestedSandbox::kReject);
  EXPECT_EQ(Assess("print('rm -rf /')").suggested_sandbox, core::SuggestedSandbox::kSubprocess);
}

TEST(PythonAnalysisTest, OrganisationsAddModules) {
  PolicyOptions options;
  options.extras.modules.emplace("acme.secrets", kCritical);
  const RiskPolicy policy(options);
  EXPECT_EQ(policy.Assess("python", "from acme.secrets.vault import x").level, kCritical);
  EXPECT_EQ(policy.Assess("python", "from acme import secrets").level, kCritical);
  EXPECT_EQ(policy.Assess("python", "import acme.secretsanta").level, kSafe);
}

TEST(PythonAnalysisTest, CodeThatDrivesABrowserAsksForOne) {
  EXPECT_EQ(Assess("from playwright.sync_api import x").suggested_sandbox, core::SuggestedSandbox::kBrowser);
  EXPECT_EQ(Assess("x = 'playwright'").suggested_sandbox, core::SuggestedSandbox::kSubprocess);
}

}  // namespace
}  // namespace skerry::policy
