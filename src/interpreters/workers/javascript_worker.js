// The JavaScript worker: runs one program, or cells one after the other, for the Skerry at the other end of a socket.
// Started ahead as `node --experimental-vm-modules -e TEXT`; it waits at descriptor 3 for its first message.
(() => {
'use strict';
const fs = require('fs'), path = require('path'), url = require('url'), util = require('util'), vm = require('vm');
const Module = require('module');

const kChannel = 3;
const kTextLimit = 1 << 20;
const reallyExit = process.reallyExit.bind(process);

// ---- The channel: fields that end with a NUL, both ways -----------------------------------------------------------

class Fields {
  #unfinished = [];
  #finished = [];

  push(piece) {
    let start = 0;
    for (let end = piece.indexOf(0); end >= 0; end = piece.indexOf(0, start)) {
      this.#unfinished.push(piece.subarray(start, end));
      this.#finished.push(Buffer.concat(this.#unfinished).toString());
      this.#unfinished = [];
      start = end + 1;
    }
    if (start < piece.length) this.#unfinished.push(Buffer.from(piece.subarray(start)));
  }

  get count() { return this.#finished.length; }
  peek() { return this.#finished[0]; }
  take(count) { return this.#finished.splice(0, count); }
}

// Whole messages, and synchronously: what is sent before an exit has been sent.
const send = (...fields) => {
  let rest = Buffer.from(fields.map((field) => String(field).replaceAll('\0', '') + '\0').join(''));
  while (rest.length > 0) {
    try {
      rest = rest.subarray(fs.writeSync(kChannel, rest));
    } catch (error) {
      if (error.code !== 'EAGAIN') return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
};

const readFirst = (fields, count) => {
  const buffer = Buffer.allocUnsafe(1 << 18);
  while (fields.count < count) {
    let size = 0;
    try { size = fs.readSync(kChannel, buffer); } catch { /* as its end */ }
    if (size === 0) reallyExit(0);
    fields.push(buffer.subarray(0, size));
  }
  return fields.take(count);
};

// ---- Ahead of the first message -----------------------------------------------------------------------------------

const warmUp = () => {
  // A pipe that Node has opened does not block, and what does not fit into it is lost at process.exit(). These do, and
  // nothing is. stdin is left alone: opened, it would not block either, and readFileSync(0) would fail.
  for (const stream of [process.stdout, process.stderr]) stream?._handle?.setBlocking?.(true);
  const { Writable } = require('stream');
  const console = new (require('console').Console)(new Writable({ write(piece, encoding, done) { done(); } }));
  for (let i = 0; i < 3; i++) {
    const warm = new Module('/<warm>', null);
    warm._compile('class A { #x = 1; get x() { return this.#x; } }\nmodule.exports = [new A().x, `${1 + 1}`, [1]];',
                  '/<warm>');
    console.log('%s %d', 'a', 1, warm.exports, new Error('warm'));
  }
  isModule('const x = 1;', '/<warm>');
};

// What a program would see of how it was started.
const forgetStart = () => {
  process.execArgv.length = 0;
  delete process._eval;
};

const applyStart = (directory, variables) => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  for (const variable of variables) {
    const equals = variable.indexOf('=');
    if (equals > 0) process.env[variable.slice(0, equals)] = variable.slice(equals + 1);
  }
  if (process.env.NODE_PATH) Module._initPaths();
  try {
    process.chdir(directory);
  } catch (error) {
    fs.writeSync(2, `skerry: cannot enter ${directory}: ${error.code}\n`);
    reallyExit(126);
  }
};

// ---- One program --------------------------------------------------------------------------------------------------

// CommonJS as a file in the working directory would run; text that only makes sense as a module runs as one.
const isModule = (source, filename) => {
  try {
    new vm.Script(Module.wrap(source), { filename });
    return false;
  } catch (error) {
    return error instanceof SyntaxError &&
      /import statement|import\.meta|Unexpected token 'export'|await is only valid/.test(error.message);
  }
};

const importFrom = (filename) => async (name) => {
  if (name.startsWith('node:') || Module.builtinModules.includes(name) || /^[a-z]+:/.test(name)) return import(name);
  return import(url.pathToFileURL(Module.createRequire(filename).resolve(name)).href);
};

const runModule = async (source, filename) => {
  const load = importFrom(filename);
  const emitWarning = process.emitWarning;
  process.emitWarning = (text, ...rest) =>
    /VM Modules/.test(String(text)) ? undefined : emitWarning.call(process, text, ...rest);
  const main = new vm.SourceTextModule(source, {
    identifier: filename, importModuleDynamically: load,
    initializeImportMeta(meta) {
      Object.assign(meta, { url: url.pathToFileURL(filename).href, filename, dirname: path.dirname(filename) });
    },
  });
  process.emitWarning = emitWarning;
  await main.link(async (name) => {
    const namespace = await load(name);
    const names = Object.keys(namespace);
    return new vm.SyntheticModule(names, function () { for (const key of names) this.setExport(key, namespace[key]); });
  });
  await main.evaluate();
};

// The end of a program is told when its last 'exit' listener has run; Node takes its time after that. Of an error that
// kills the program Node writes only after them, so there the end of the process tells it.
const tellTheExit = () => {
  let told = false, dying = false;
  const tell = (code) => {
    if (told) return;
    told = true;
    send('exit', Number(code) & 0xFF);
    try { fs.closeSync(kChannel); } catch { /* the program did it */ }
  };
  const emit = process.emit;
  const hidden = { configurable: true, writable: true, enumerable: false };
  Object.defineProperty(process, 'emit', { ...hidden, value(name, ...values) {
    const heard = Reflect.apply(emit, this, [name, ...values]);
    if (name === 'uncaughtException' && !heard) dying = true;
    if (name === 'exit' && process._exiting && !dying) tell(process.exitCode ?? values[0] ?? 0);
    return heard;
  } });
  Object.defineProperty(process, 'reallyExit', { ...hidden, value(code) {
    tell(code ?? 0);
    reallyExit(code);
  } });
};

const run = (name, args, source) => {
  const filename = path.join(process.cwd(), '<code>');
  process.argv.splice(1, 0, name ? path.join(process.cwd(), name) : filename, ...args);
  tellTheExit();
  if (isModule(source, filename)) {
    runModule(source, filename).catch((error) => { process.exitCode = 1; console.error(error); });
    return;
  }
  const main = new Module(filename, null);
  main.filename = filename;
  main.paths = Module._nodeModulePaths(process.cwd());
  process.mainModule = main;
  require.main = main;
  process.nextTick(main._compile.bind(main, source, filename));  // no frame of ours below the program's
};

// ---- The text of a cell -------------------------------------------------------------------------------------------

// The places of the words `import` and `const` in the code: not those in strings, comments, templates and regular
// expressions, and no properties of that name.
const placesOfWords = (text) => {
  const places = [], open = [];
  const token = new RegExp([/\/\/.*|\/\*[^]*?\*\//, /'(?:\\[^]|[^'\\\n])*'|"(?:\\[^]|[^"\\\n])*"/,
    /[\p{ID_Start}$_#][\p{ID_Continue}$\u200c\u200d]*/u, /\d[\w.]*|\s+|[^]/,
  ].map((part) => part.source).join('|'), 'uy');
  const expression = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/uy;
  const template = /(?:\\[^]|\$(?!\{)|[^`\\$])*(?:`|\$\{)/uy;
  let last = '', at = 0;
  const take = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const endOfValue = () => /[\w$)\]}'"`]$/.test(last) &&
    !/^(?:return|typeof|case|in|of|delete|void|throw|new|await|yield|instanceof|else|do)$/.test(last);
  while (at < text.length) {
    if (text[at] === '/' && !'/*'.includes(text[at + 1]) && !endOfValue() && take(expression)) {
      last = ')';
      continue;
    }
    const start = at, found = take(token);
    if (/^(?:\s|\/\/|\/\*)/.test(found)) continue;
    if (found === '{') open.push('{');
    if (found === '`' || (found === '}' && open.pop() === '`')) {
      if (take(template)?.endsWith('{')) { open.push('`'); last = '{'; } else last = '`';
      continue;
    }
    if ((found === 'import' || found === 'const') && last !== '.') {
      places.push({ word: found, start, nested: open.length > 0 });
    }
    last = found;
  }
  return places;
};

const kStatic = new RegExp(
  String.raw`^import\s*(?:(?<name>NAME)?\s*,?\s*(?:\*\s*as\s+(?<all>NAME)|\{(?<some>[^}]*)\})?\s*from\s*)?`
  .replaceAll('NAME', String.raw`[\p{ID_Start}$_][\p{ID_Continue}$]*`) +
  String.raw`(?<from>'[^'\n]*'|"[^"\n]*")[^\S\n]*;?`, 'u');

const asCall = ({ name, all, some, from }) => {
  const parts = [name && `default: ${name}`, some?.replace(/\sas\s/g, ' : ')].filter(Boolean).join(', ');
  const names = [all, parts && `{ ${parts} }`].filter(Boolean).map((name) => `${name} = await __import(${from})`);
  return names.length ? `let ${names.join(', ')};` : `await __import(${from});`;
};

// A cell is a script of V8's REPL mode, where `let` can be declared again and `const` cannot become `let`, where import
// statements are not allowed and where import() has no one to load.
const asScript = (text) => {
  if (!/import|const/.test(text)) return text;
  let result = '', done = 0;
  const replace = (start, length, by) => {
    result += text.slice(done, start) + by;
    done = start + length;
  };
  for (const { word, start, nested } of placesOfWords(text)) {
    if (word === 'const') {
      if (!nested) replace(start, 5, 'let  ');
      continue;
    }
    const rest = text.slice(start), found = nested ? null : kStatic.exec(rest);
    if (found) replace(start, found[0].length, asCall(found.groups) + '\n'.repeat(found[0].split('\n').length - 1));
    else if (/^import\s*\(/.test(rest)) replace(start, 6, '__import');
  }
  return result + text.slice(done);
};

// ---- Cells --------------------------------------------------------------------------------------------------------

const plain = (value) => {
  try {
    const text = util.inspect(value);
    return text.length > kTextLimit ? `${text.slice(0, kTextLimit)}\u2026` : text;
  } catch (error) {
    return `[a value that cannot be shown: ${error?.name}]`;
  }
};

const isPlainObject = (value) => {
  const prototype = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || prototype === Object.prototype;
};

const bundleOf = (value) => {
  const bundle = { 'text/plain': plain(value) };
  if (typeof value !== 'object' || value === null || bundle['text/plain'].length > kTextLimit) return bundle;
  try {
    const json = isPlainObject(value) ? JSON.stringify(value) : undefined;
    if (json !== undefined && json.length < kTextLimit) bundle['application/json'] = json;
  } catch { /* a cycle, a BigInt */ }
  return bundle;
};

const isBundle = (value) => typeof value === 'object' && value !== null && Object.keys(value).length > 0 &&
  Object.keys(value).every((key) => /^[\w.+-]+\/[\w.+-]+$/.test(key));

const asText = (mime, data) => {
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');
  return typeof data !== 'string' && /json$/.test(mime) ? JSON.stringify(data) : String(data);
};

const sendBundle = (kind, bundle) => {
  const pairs = Object.entries(bundle).map(([mime, data]) => [mime, asText(mime, data)]);
  send(kind, pairs.length, ...pairs.flat());
};

const display = (...values) => {
  for (const value of values) sendBundle('display', isBundle(value) ? value : bundleOf(value));
};

// Without the frames of the worker and of what it calls.
const withoutOurs = (stack) => {
  const lines = String(stack).split('\n');
  const end = lines.findIndex((line) => /^\s+at (?:Session\.post|.*\[eval\]|.*evalmachine)/.test(line));
  return (end < 0 ? lines : lines.slice(0, end)).join('\n');
};

class Context {
  #session = new (require('inspector').Session)();
  #sources = new Map();
  #fields;
  #busy = false;
  #lent = new Map();
  #running = null;
  #sink;
  #taken;
  #calling = vm.createContext({});
  #call = new vm.Script('call()');

  constructor(fields) {
    this.#fields = fields;
    this.#session.connect();
    const hidden = { configurable: true, writable: true, enumerable: false };
    const here = () => path.join(process.cwd(), '<cell>');
    Object.defineProperty(globalThis, 'display', { ...hidden, value: display });
    Object.defineProperty(globalThis, '__import', { ...hidden, value: (name) => importFrom(here())(String(name)) });
    Object.defineProperty(globalThis, 'require', { ...hidden, value: Module.createRequire(here()) });
    this.#makeSink();
    process.on('SIGINT', () => this.#running?.({ interrupted: true }));
    process.on('uncaughtException', (error) => {
      process.stderr.write(`Uncaught ${error instanceof Error ? withoutOurs(error.stack) : plain(error)}\n`);
    });
  }

  serve() {
    const socket = new (require('net').Socket)({ fd: kChannel, readable: true, writable: false });
    socket.on('data', (piece) => { this.#fields.push(piece); this.#pump(); });
    for (const event of ['end', 'error', 'close']) socket.on(event, () => reallyExit(0));
    this.#pump();
  }

  // V8 hands values over as names of them; called with such a name, the sink gets the value itself.
  #makeSink() {
    globalThis.__sink = (value) => { this.#taken = value; };
    this.#session.post('Runtime.evaluate', { expression: '__sink' }, (error, value) => {
      this.#sink = value.result.objectId;
    });
    delete globalThis.__sink;
  }

  async #pump() {
    if (this.#busy) return;
    this.#busy = true;
    const counts = { variable: 3, cell: 3, dump: 2, load: 3 };
    while (this.#fields.count > 0 && this.#fields.count >= (counts[this.#fields.peek()] ?? 0)) {
      const [kind, id, text] = this.#fields.take(counts[this.#fields.peek()] ?? reallyExit(126));
      if (kind === 'variable') {
        this.#lent.set(id, text);
        continue;
      }
      const giveBack = this.#lend();
      await this.#answer(kind, id, text);
      giveBack();
    }
    this.#busy = false;
  }

  // Sets the variables of the next cell. What is returned sets them back, except those that the cell has changed.
  #lend() {
    const lent = this.#lent;
    const before = new Map([...lent.keys()].map((name) => [name, process.env[name]]));
    this.#lent = new Map();
    for (const [name, value] of lent) process.env[name] = value;
    return () => {
      for (const [name, value] of before) {
        if (process.env[name] !== lent.get(name)) continue;
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    };
  }

  async #answer(kind, id, text) {
    let status = 'ok';
    Object.defineProperty(process, 'reallyExit', { configurable: true, writable: true, value(code) {
      send('error', 'ExitStatus', code ?? 0, '');
      send('done', id, 'error');
      reallyExit(code);
    } });
    try {
      if (kind !== 'cell') throw { failure: ['NotSupported', `JavaScript has no ${kind}`, ''] };
      await this.#cell(text);
    } catch (error) {
      status = 'error';
      send('error', ...(error?.failure ?? this.#describe(error)));
    }
    process.reallyExit = reallyExit;
    this.#session.post('Runtime.releaseObjectGroup', { objectGroup: 'cell' });
    send('done', id, status);
  }

  async #cell(text) {
    const name = `<cell-${this.#sources.size + 1}>`;
    this.#sources.set(name, text);
    const expression = `${asScript(text)}\n//# sourceURL=${name}`;
    const outcome = await this.#evaluate({ expression, replMode: true, objectGroup: 'cell' });
    if (outcome.interrupted) throw { failure: ['Interrupted', 'interrupted by SIGINT', ''] };
    if (outcome.error) throw { failure: ['Error', outcome.error.message, ''] };
    const { result, exceptionDetails } = outcome.value;
    if (exceptionDetails) {
      throw { failure: this.#describe(this.#valueOf(exceptionDetails.exception), name, exceptionDetails) };
    }
    const value = this.#valueOf(result);
    if (value === undefined) return;
    const bundle = Object(value) === value ? this.#interruptible(() => bundleOf(value)) : bundleOf(value);
    if (!bundle) throw { failure: ['Interrupted', 'interrupted by SIGINT', ''] };
    sendBundle('result', bundle);
  }

  #evaluate(parameters) {
    return new Promise((resolve) => {
      this.#running = resolve;
      const begun = this.#interruptible(() => {
        this.#session.post('Runtime.evaluate', parameters, (error, value) => resolve({ error, value }));
        return true;
      });
      if (!begun) resolve({ interrupted: true });
    }).finally(() => { this.#running = null; });
  }

  // undefined after a SIGINT. Only what runs directly in a vm script can be interrupted by one.
  #interruptible(action) {
    let value;
    this.#calling.call = () => { value = action(); };
    try {
      this.#call.runInContext(this.#calling, { breakOnSigint: true });
      return value;
    } catch (error) {
      if (error?.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') return undefined;
      throw error;
    }
  }

  #valueOf(remote) {
    if (remote.unserializableValue !== undefined) {
      const text = remote.unserializableValue;
      return text.endsWith('n') ? BigInt(text.slice(0, -1)) : Number(text);
    }
    if (remote.objectId === undefined) return remote.value;
    const call = { objectId: this.#sink, functionDeclaration: 'function (value) { this(value); }',
                   arguments: [{ objectId: remote.objectId }] };
    this.#session.post('Runtime.callFunctionOn', call);
    const value = this.#taken;
    this.#taken = undefined;
    return value;
  }

  // Name, message and a stack with the line of the cell above it.
  #describe(error, name, details) {
    if (!(error instanceof Error)) {
      return [error?.constructor?.name ?? typeof error, plain(error), `Uncaught ${plain(error)}\n`];
    }
    try {
      const stack = withoutOurs(error.stack);
      let [, cell, line, column] = /(<cell-\d+>):(\d+):(\d+)/.exec(stack) ?? [];
      if (!cell && details && !/\n\s+at /.test(stack)) {
        [cell, line, column] = [name, details.lineNumber + 1, details.columnNumber + 1];
      }
      const source = cell && this.#sources.get(cell)?.split('\n')[line - 1];
      const margin = ' '.repeat(Math.max(0, column - 1));
      const arrow = source === undefined ? '' : `${cell}:${line}\n${source}\n${margin}^\n\n`;
      return [String(error.name), String(error.message), `${arrow}${stack}\n`];
    } catch {
      return ['Error', 'an error that cannot be shown', ''];
    }
  }
}

// ---- The entry ----------------------------------------------------------------------------------------------------

warmUp();
forgetStart();
send('ready');
const fields = new Fields();
const [kind, directory, count] = readFirst(fields, 3);
applyStart(directory, readFirst(fields, Number(count)));
if (kind === 'run') {
  const [name, argumentCount] = readFirst(fields, 2);
  const rest = readFirst(fields, Number(argumentCount) + 1);
  run(name, rest.slice(0, -1), rest.at(-1));
}
else if (kind === 'cells') new Context(fields).serve();
else reallyExit(126);
})();
