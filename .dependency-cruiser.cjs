/** The rules of import: who may know whom. Each rule names its reason; `npm run check:imports` runs them. */
const only = (name, module, file, comment) => ({
  name: `one-importer-${name}`,
  severity: 'error',
  comment,
  from: { path: '^(engine|plugins)/', pathNot: file },
  to: { path: module },
});

module.exports = {
  forbidden: [
    {
      name: 'no-circles',
      severity: 'error',
      comment: 'no circles, not even of types',
      from: {},
      to: { circular: true },
    },
    {
      name: 'plugins-use-the-one-door',
      severity: 'error',
      comment: 'plugins import only engine/plugin.ts and libraries',
      from: { path: '^plugins/', pathNot: '^plugins/index\\.ts$' },
      to: { path: '^(engine|simulator|schemas)/', pathNot: '^engine/plugin\\.ts$' },
    },
    {
      name: 'plugins-meet-by-name',
      severity: 'error',
      comment: 'no plugin imports another; one that outgrew its file has a folder of its name beside it',
      from: { path: '^plugins/([^/]+)/([^/.]+)', pathNot: '^plugins/index\\.ts$' },
      to: { path: '^plugins/', pathNot: '^plugins/$1/$2/' },
    },
    {
      name: 'engine-knows-no-plugin',
      severity: 'error',
      comment: 'engine/main.ts is the composition root',
      from: { path: '^engine/', pathNot: '^engine/main\\.ts$' },
      to: { path: '^plugins/' },
    },
    {
      name: 'config-runs-no-request',
      severity: 'error',
      comment: 'config/ runs no request',
      from: { path: '^engine/config/' },
      to: { path: '^engine/(http|upstream|cli)/' },
    },
    {
      name: 'simulator-stands-alone',
      severity: 'error',
      comment: 'the simulator must not share the gateway’s mistakes',
      from: { path: '^simulator/' },
      to: { path: '^(engine|plugins|schemas|test|bench)/' },
    },
    {
      name: 'nothing-imports-tests',
      severity: 'error',
      comment: 'production code never depends on tests or benches',
      from: { path: '^(engine|plugins|simulator|schemas)/' },
      to: { path: '^(test|bench)/' },
    },
    { name: 'not-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    only(
      'uwebsockets',
      'node_modules/(uWebSockets\\.js|uwebsockets)/',
      '^engine/http/server\\.ts$',
      'uWebSockets.js has one importer',
    ),
    only('undici', 'node_modules/undici/', '^engine/upstream/pinned\\.ts$', 'undici has one importer'),
    only('ajv', 'node_modules/ajv/', '^engine/config/validate\\.ts$', 'ajv has one importer'),
    only('yaml', 'node_modules/yaml/', '^engine/config/document\\.ts$', 'yaml has one importer'),
    only('ws', 'node_modules/ws/', '^engine/upstream/socket\\.ts$', 'ws has one importer'),
    only('libsql', 'node_modules/libsql/', '^engine/ledger/sqlite\\.ts$', 'libsql has one importer'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    exclude: { path: '(^|/)dist/' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.d.ts', '.json'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
