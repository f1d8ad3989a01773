// Runs the text at descriptor 3 as CommonJS, like a file in the working directory; a text that is only valid as a module
// runs as a module.
const fs = require('fs'), path = require('path'), url = require('url'), vm = require('vm');
const Module = require('module');
const source = fs.readFileSync(3, 'utf8');
fs.closeSync(3);
const filename = path.join(process.cwd(), '<code>');
process.argv[1] = process.argv[1] ? path.join(process.cwd(), process.argv[1]) : filename;
const isModule = (() => {
  try { new vm.Script(Module.wrap(source), { filename }); return false; }
  catch (error) {
    return error instanceof SyntaxError &&
      /import statement|import\.meta|Unexpected token 'export'|await is only valid/.test(error.message);
  }
})();
const runModule = async () => {
  const from = Module.createRequire(filename);
  const load = async (name) => {
    if (name.startsWith('node:') || Module.builtinModules.includes(name) || /^[a-z]+:/.test(name)) return import(name);
    return import(url.pathToFileURL(from.resolve(name)).href);
  };
  const emitWarning = process.emitWarning;
  process.emitWarning = (text, ...rest) =>
    /VM Modules/.test(String(text)) ? undefined : emitWarning.call(process, text, ...rest);
  const main = new vm.SourceTextModule(source, {
    identifier: filename, importModuleDynamically: load,
    initializeImportMeta(meta) { meta.url = url.pathToFileURL(filename).href; meta.filename = filename; meta.dirname = process.cwd(); },
  });
  process.emitWarning = emitWarning;
  await main.link(async (name) => {
    const namespace = await load(name);
    const names = Object.keys(namespace);
    return new vm.SyntheticModule(names, function () { for (const key of names) this.setExport(key, namespace[key]); });
  });
  await main.evaluate();
};
if (isModule) {
  runModule().catch((error) => { process.exitCode = 1; console.error(error); });
} else {
  const main = new Module(filename, null);
  main.filename = filename;
  main.paths = Module._nodeModulePaths(process.cwd());
  process.mainModule = main;
  require.main = main;
  main._compile(source, filename);
}
