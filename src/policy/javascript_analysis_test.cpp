// What the analysis of JavaScript and TypeScript finds (S2.5), in every spelling, and what it does not report.
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/risk_policy.hpp"
#include "policy/test_rows.hpp"

namespace skerry::policy {
namespace {

using enum core::RiskLevel;

core::RiskAssessment Assess(std::string_view code) {
  return RiskPolicy().Assess(core::Language::kJavaScript, code);
}

void Check(const std::vector<Row>& rows) {
  CheckRows(core::Language::kJavaScript, rows);
}

TEST(JavaScriptAnalysisTest, TheDocumentsExpressionsHold) {
  Check({{"eval('1')", kCritical, "javascript.eval"},
         {"new Function('return 1')", kCritical, "javascript.eval"},
         {"require('child_process')", kCritical, "javascript.child-process"},
         {"require('fs')", kHigh, "javascript.files"},
         {"require(\"http\")", kHigh, "javascript.network"},
         {"fetch('http://x')", kHigh, "javascript.network"}});
}

TEST(JavaScriptAnalysisTest, TextsAndCommentsAreNoCode) {
  Check({{"// eval(x)", kSafe},
         {"/* require('child_process') */", kSafe},
         {"console.log('eval(x) and child_process')", kSafe},
         {"`eval(${x})`", kSafe},
         {"`${eval(x)}`", kCritical, "javascript.eval"},
         {"const r = /eval\\(/", kSafe}});
}

TEST(JavaScriptAnalysisTest, OtherThingsOfTheSameNameAreOthers) {
  Check({{"evaluate(x)", kSafe},
         {"/a/.exec(s)", kSafe},
         {"db.exec('select 1')", kSafe},
         {"obj.eval(x)", kSafe},
         {"class A { fetch() { return this.fetch() } }", kSafe},
         {"A.prototype.f = function () { return this.fetch() }", kSafe},
         {"function f(eval1, fetch) { return fetch(eval1) }", kSafe},
         {"const x = {eval: 1, fetch() {}}", kSafe},
         {"const path = require('path'), u = require('node:util')", kSafe},
         {"setTimeout(() => f(), 10)", kSafe}});
}

TEST(JavaScriptAnalysisTest, EveryReferenceToEvalIsCritical) {
  Check({{"(0, eval)('x')", kCritical, "javascript.eval"},
         {"const e = eval", kCritical, "javascript.eval"},
         {"xs.map(eval)", kCritical, "javascript.eval"},
         {"window.eval(x)", kCritical, "javascript.eval"},
         {"globalThis['ev' + 'al'](x)", kCritical, "javascript.eval"},
         {"const {eval: e} = globalThis", kCritical, "javascript.eval"},
         {"const {['ev' + 'al']: e} = globalThis", kCritical, "javascript.hidden-name"},
         {"eval.call(null, x)", kCritical, "javascript.eval"},
         {"Reflect.get(globalThis, 'eval')", kCritical, "javascript.eval"},
         {"Object.getOwnPropertyDescriptor(globalThis, 'eval')", kCritical, "javascript.eval"},
         {"with (globalThis) { eval(x) }", kCritical, "javascript.eval"},
         {"\\u0065val(x)", kCritical, "javascript.eval"},
         {"ev\\u{61}l(x)", kCritical, "javascript.eval"},
         {"<!-- hidden\neval(x)", kCritical, "javascript.eval"},
         {"setTimeout('f()', 10)", kCritical, "javascript.eval"},
         {"class A { static e = eval }", kCritical, "javascript.eval"}});
}

TEST(JavaScriptAnalysisTest, EveryWayToTheFunctionConstructorIsCritical) {
  Check({{"Function('x')()", kCritical, "javascript.eval"},
         {"Function`x```", kCritical, "javascript.eval"},
         {"const F = Function; new F('x')", kCritical, "javascript.eval"},
         {"[].constructor.constructor('x')()", kCritical, "javascript.eval"},
         {"const c = 'constructor'; [][c][c]('x')()", kCritical, "javascript.eval"},
         {"(() => {}).constructor('x')()", kCritical, "javascript.eval"},
         {"const f = () => {}; f.constructor('x')()", kCritical, "javascript.eval"},
         {"function f() {} f.constructor('x')()", kCritical, "javascript.eval"},
         {"const O = ({}).constructor; O.constructor('x')()", kCritical, "javascript.eval"},
         {"[].map.constructor('x')()", kCritical, "javascript.eval"},
         {"''.sub.constructor('x')()", kCritical, "javascript.eval"},
         {"(() => {}).__proto__.constructor('x')()", kCritical, "javascript.eval"},
         {"Object.getPrototypeOf(async () => {}).constructor('x')()", kCritical, "javascript.eval"},
         {"const {constructor: F} = () => {}; F('x')()", kCritical, "javascript.eval"},
         {"const {constructor: {constructor: F}} = {}; F('x')()", kCritical, "javascript.eval"},
         {"Math.max.constructor('x')()", kCritical, "javascript.eval"},
         {"Reflect.construct(Function, ['x'])", kCritical, "javascript.eval"}});
}

TEST(JavaScriptAnalysisTest, TheFunctionConstructorThatIsHandedOnIsCritical) {
  Check({{"f(Function)", kCritical, "javascript.eval"},
         {"const fs = [Function]", kCritical, "javascript.eval"},
         {"class F extends Function {}", kCritical, "javascript.eval"},
         {"x instanceof Function", kSafe},
         {"x.constructor === Function", kSafe},
         {"expect.any(Function)", kSafe},
         {"export default {props: {f: Function, g: {type: [String, Function]}}}", kSafe},
         {"defineComponent({props: {f: Function}})", kSafe},
         {"Function.prototype.x = 1", kSafe},
         {"let f: Function; type T = typeof Function", kSafe}});
}

TEST(JavaScriptAnalysisTest, ConstructorsInOrdinaryCodeAreHarmless) {
  Check({{"class A { f() { return new this.constructor(1) } }", kSafe},
         {"console.log(x.constructor.name)", kSafe},
         {"Object.getPrototypeOf(x).constructor.name", kSafe},
         {"new error.constructor(error.message)", kSafe},
         {"if (x.constructor !== Object) f()", kSafe}});
}

TEST(JavaScriptAnalysisTest, ModulesAreFoundHoweverTheyAreLoaded) {
  Check({{"import cp from 'child_process'", kCritical, "javascript.child-process"},
         {"import * as cp from 'node:child_process'", kCritical, "javascript.child-process"},
         {"import 'child_process'", kCritical, "javascript.child-process"},
         {"export * from 'child_process'", kCritical, "javascript.child-process"},
         {"import cp = require('child_process')", kCritical, "javascript.child-process"},
         {"await import(`child_${'process'}`)", kCritical, "javascript.child-process"},
         {"require('child' + '_process')", kCritical, "javascript.child-process"},
         {"require('child'.concat('_process'))", kCritical, "javascript.child-process"},
         {"require(atob('Y2hpbGRfcHJvY2Vzcw=='))", kCritical, "javascript.child-process"},
         {"require('\\x63hild_process')", kCritical, "javascript.child-process"},
         {"const r = require; r('child_process')", kCritical, "javascript.child-process"},
         {"let r; r \?\?= require; r('child_process')", kCritical, "javascript.child-process"},
         {"const \\u0072 = require; r('child_process')", kCritical, "javascript.child-process"},
         {"process.getBuiltinModule('child_process')", kCritical, "javascript.child-process"},
         {"require('module').createRequire(x)('child_process')", kCritical, "javascript.child-process"},
         {"module.constructor._load('fs')", kCritical, "javascript.internals"},
         {"import {readFile} from 'fs/promises'", kHigh, "javascript.files"},
         {"import fs from \"fs\"", kHigh, "javascript.files"},
         {"import type {Stats} from 'fs'", kSafe},
         {"process.binding('fs')", kCritical, "javascript.internals"},
         {"require('vm').runInThisContext('1')", kCritical, "javascript.vm"}});
}

TEST(JavaScriptAnalysisTest, NamesOfTheRuntimeThatRunOrLoadCodeAreFound) {
  Check({{"module._compile('eval(x)', 'f')", kCritical, "javascript.eval"},
         {"new (require('module'))('x')", kCritical, "javascript.internals"},
         {"require('module').prototype._compile", kCritical, "javascript.internals"},
         {"import {register} from 'node:module'; register('./h.mjs')", kCritical, "javascript.internals"},
         {"import {builtinModules} from 'module'; builtinModules.length", kSafe},
         {"require('v8').setFlagsFromString(x)", kCritical, "javascript.internals"},
         {"require('v8').getHeapStatistics()", kSafe},
         {"require('crypto').setEngine(x)", kCritical, "javascript.internals"},
         {"require('crypto').randomUUID()", kSafe},
         {"db.loadExtension(x)", kCritical, "javascript.internals"},
         {"process.execve(x)", kCritical, "javascript.child-process"},
         {"process.report.writeReport()", kHigh, "javascript.files"},
         {"process.loadEnvFile()", kMedium, "javascript.environment"},
         {"require('wasi')", kHigh, "javascript.wasi"},
         {"import {run} from 'node:test'; run()", kHigh, "javascript.workers"},
         {"import {test} from 'node:test'; test('x', f)", kSafe},
         {"x.copyFileSync(a, b)", kHigh, "javascript.files"}});
}

TEST(JavaScriptAnalysisTest, ModulesThatAreGlobalsAreFound) {
  Check({{"repl.start()", kCritical, "javascript.vm"},
         {"new inspector.Session()", kCritical, "javascript.internals"},
         {"cluster.fork()", kHigh, "javascript.workers"},
         {"http2.connect(x)", kHigh, "javascript.network"},
         {"const cluster = []; cluster.map(f)", kSafe},
         {"crypto.randomUUID()", kSafe}});
}

TEST(JavaScriptAnalysisTest, AModuleThatIsItsOwnTextIsCode) {
  Check({{"import('data:text/javascript,require(\"fs\")')", kCritical, "javascript.files"},
         {"import 'data:text/javascript,%72equire(\"fs\")'", kCritical, "javascript.files"},
         {"import 'data:text/javascript;base64,ZmV0Y2goeCk='", kCritical, "javascript.network"},
         {"import('data:text/javascript,' + x)", kCritical, "javascript.eval"},
         {"import('data:')", kCritical, "javascript.eval"},
         {"import x from 'data:application/json,{}' with {type: 'json'}", kSafe},
         {"f('data:text/javascript,1')", kSafe}});
}

TEST(JavaScriptAnalysisTest, AWorkerCanRunAText) {
  Check({{"new (require('worker_threads').Worker)('fetch(x)', {eval: true})", kCritical, "javascript.network"},
         {"new (require('worker_threads').Worker)(x, {'eval': y})", kCritical, "javascript.eval"},
         {"new (require('worker_threads').Worker)('./w.js', {eval: false})", kHigh, "javascript.workers"},
         {"new (require('worker_threads').Worker)('./w.js')", kHigh, "javascript.workers"}});
}

TEST(JavaScriptAnalysisTest, AModuleThatCannotBeKnownIsHigh) {
  Check({{"require(name)", kHigh, "javascript.dynamic-require"},
         {"import(`./${name}.js`)", kHigh, "javascript.dynamic-require"},
         {"exports.load = require", kHigh, "javascript.dynamic-require"},
         {"f(require); g('child_process')", kCritical, "javascript.child-process"},
         {"for (const n of ['child_process']) require(n)", kCritical, "javascript.child-process"},
         {"console.log('child_process')", kSafe},
         {"let s = './a'; s += 'b'; require(s)", kHigh, "javascript.dynamic-require"},
         {"let s = 'path'; s = 'child_process'; require(s)", kCritical, "javascript.child-process"},
         {"factory(require)", kHigh, "javascript.dynamic-require"},
         {"factory(require); socket.on('open', f)", kHigh, "javascript.dynamic-require"},
         {"require('./local')", kSafe},
         {"if (require.main === module) main()", kSafe}});
}

TEST(JavaScriptAnalysisTest, ANameThatIsPutTogetherHidesSomething) {
  Check({{"x['ev' + 'al'](y)", kCritical, "javascript.hidden-name"},
         {"load('child_' + 'process')", kCritical, "javascript.hidden-name"},
         {"f(`child_${'process'}`)", kCritical, "javascript.hidden-name"},
         {"const k = 'eval'; f(`${k}`)", kSafe},
         {"f('child' + ' process')", kSafe}});
}

TEST(JavaScriptAnalysisTest, AGlobalByAnUnknownNameIsHigh) {
  Check({{"globalThis[name](x)", kHigh, "javascript.reflection"},
         {"window[name] = 1", kSafe},
         {"window[0]", kSafe},
         {"const frames = []; frames[i]", kSafe},
         {"function S() {} S.prototype.get = function (k) { return this[k] }", kSafe}});
}

TEST(JavaScriptAnalysisTest, ProcessesAndTheEnvironmentHaveLevels) {
  Check({{"process.env.HOME", kMedium, "javascript.environment"},
         {"process.kill(1)", kHigh, "javascript.signal"},
         {"new WebSocket(u)", kHigh, "javascript.network"},
         {"require('worker_threads')", kHigh, "javascript.workers"},
         {"process.argv.slice(2)", kSafe}});
}

TEST(JavaScriptAnalysisTest, DialectsAreUnderstood) {
  Check({{"const x = (eval as any)(y)", kCritical, "javascript.eval"},
         {"enum E { A = 'eval' }\nnamespace N { export const x: number = 1 }", kSafe},
         {"@Component({a: 1})\nclass A { @Input() x!: string; constructor(private y: B) {} }", kSafe},
         {"export const A = () => <b onClick={() => f()}>{x}</b>", kSafe},
         {"const a = (p: P): R => <b>{eval(p)}</b>", kCritical, "javascript.eval"}});
}

TEST(JavaScriptAnalysisTest, TheFirstLineEndsWhereJavaScriptEndsIt) {
  Check({{"#!/usr/bin/node\nx()", kSafe},
         {"#!x\reval(y)", kCritical, "javascript.eval"},
         {"#!x\u2028eval(y)", kCritical, "javascript.eval"},
         {"//x\u2028eval(y)", kCritical, "javascript.eval"}});
}

TEST(JavaScriptAnalysisTest, WhatDoesNotParseIsAtLeastMediumAndSearchedForNames) {
  Check({{"const = = 1", kMedium, "code.unparsed"}, {"const = = eval(", kCritical, "javascript.eval"}});
}

TEST(JavaScriptAnalysisTest, CodeInCodeIsAssessedInItsLanguage) {
  Check({{"eval(\"require('fs')\")", kCritical, "javascript.files"},
         {"require('child_process').execSync('rm -rf /')", kCritical, "shell.remove-system"},
         {"const {spawn} = require('child_process'); spawn('rm', ['-rf', '/'])", kCritical, "shell.remove-system"}});
  EXPECT_EQ(Assess("require('child_process').exec('rm -rf /')").suggested_sandbox, core::SuggestedSandbox::kReject);
  EXPECT_EQ(Assess("console.log('rm -rf /')").suggested_sandbox, core::SuggestedSandbox::kSubprocess);
}

TEST(JavaScriptAnalysisTest, OrganisationsAddModules) {
  PolicyOptions options;
  options.extras.modules.emplace("@acme/vault", kCritical);
  const RiskPolicy policy(options);
  EXPECT_EQ(policy.Assess("javascript", "import v from '@acme/vault'").level, kCritical);
  EXPECT_EQ(policy.Assess("javascript", "import v from '@acme/other'").level, kSafe);
}

TEST(JavaScriptAnalysisTest, CodeThatDrivesABrowserAsksForOne) {
  EXPECT_EQ(Assess("import p from 'puppeteer'").suggested_sandbox, core::SuggestedSandbox::kBrowser);
}

}  // namespace
}  // namespace skerry::policy
