// Who may import whom. The layers, top first: imports point down, or stay within one module; type imports count too.
// docs/architecture.md shows the same picture in words.
import visitor from '@swc/core/Visitor.js';

// TypeScript 7 has no compiler interface for tools, so dependency-cruiser reads the sources by swc's parser and walks them with
// swc's visitor, which was frozen before `using` came.
const { visitStatement } = visitor.Visitor.prototype;
visitor.Visitor.prototype.visitStatement = function (statement) {
  if (statement.type !== 'UsingDeclaration') return visitStatement.call(this, statement);
  this.visitVariableDeclarators(statement.decls);
  return statement;
};

/** The modules of each layer, by the path of their files. docs/architecture.svg draws them. */
export const layers = [
  { 'the entrance': '^src/([^/]+[.]ts$|(start|commands|doctor|client|help|pages)/)', web: '^src/web/' },
  { controller: '^src/controller/', compute: '^src/compute/' },
  { http: '^src/http/' },
  { fabric: '^src/fabric/', consoles: '^src/consoles/' },
  { supervisor: '^src/supervisor/', cluster: '^src/cluster/' },
  { store: '^src/store/', events: '^src/events/', config: '^src/config/', pc: '^src/pc/' },
  { host: '^src/host/', layout: '^src/layout/', api: '^src/api/' },
];

/** The layers of the controller, top first. Routes are the top wherever they stand. */
const controllerLayers = [
  { routes: '^src/controller/((controller|metrics)[.]ts$|(server|v3)/|[^/]+/[^/]*routes[.]ts$)' },
  { snapshots: '^src/controller/snapshots/' },
  { archives: '^src/controller/archives/' },
  { placement: '^src/controller/placement/' },
  { projects: '^src/controller/projects/' },
  { lab: '^src/controller/lab/' },
  { links: '^src/controller/links/', drawings: '^src/controller/drawings/' },
  { nodes: '^src/controller/nodes/' },
  {
    computes: '^src/controller/computes/',
    templates: '^src/controller/templates/',
    appliances: '^src/controller/appliances/',
  },
  { symbols: '^src/controller/symbols/' },
  { accounts: '^src/controller/accounts/' },
  { base: '^src/controller/(events|kept-events|staging|copying)[.]ts$' },
];
const ROUTES = controllerLayers[0].routes;

/** The one file below all layers, which everybody may import. */
const FAILURES = '^src/failures[.]ts$';

/** Where the executable and its threads begin. */
const ENTRIES = [
  '^src/(main|start/(starter|supervise)|client/main|cluster/main)[.]ts$',
  '^src/.*worker[.]ts$',
  '^src/web/(start|begin)[.]ts$',
  '^src/web/languages/',
];

/** One rule for each module: not from above, nor from its neighbours; `pathNot` names files that belong to another layer than their folder. */
function rulesOf(stack, prefix, pathNot) {
  const rules = stack.flatMap((layer, level) =>
    Object.entries(layer).map(([module, path]) => {
      const others = Object.values(layer).filter((other) => other !== path);
      const above = stack.slice(0, level).flatMap((modules) => Object.values(modules));
      return {
        name: `${prefix}-${module.replaceAll(' ', '-')}`,
        severity: 'error',
        comment: `${module} imports from the layers below it and from itself, never from above or from its neighbours`,
        from: { path, pathNot: level === 0 ? FAILURES : [FAILURES, ...pathNot] },
        to: { path: [...above, ...others], pathNot: FAILURES },
      };
    }),
  );
  return rules.filter((rule) => rule.to.path.length > 0);
}

export default {
  forbidden: [
    ...rulesOf(layers, 'layers', []),
    ...rulesOf(controllerLayers, 'controller', [ROUTES]),
    {
      name: 'controller-without-a-layer',
      severity: 'error',
      comment: 'a new folder of the controller gets a place above, or no rule looks at it',
      from: { path: '^src/controller/', pathNot: controllerLayers.flatMap((layer) => Object.values(layer)) },
      to: {},
    },
    {
      name: 'failures-at-the-bottom',
      severity: 'error',
      comment: 'src/failures.ts is below everything',
      from: { path: FAILURES },
      to: { path: '^src/' },
    },
    {
      name: 'web-alone',
      severity: 'error',
      comment:
        'the page shares with the server its routes, the words of the API, the layout of labs, and suggestions of names, all of which are pure',
      from: { path: '^src/web/' },
      to: { path: '^src/', pathNot: ['^src/(web|layout|api)/', '^src/host/values/nearest-name[.]ts$'] },
    },
    {
      name: 'no-circles',
      severity: 'error',
      comment: 'two files that need each other are one, or lack a third',
      from: { path: '^src/' },
      to: { circular: true },
    },
    {
      name: 'emulators-stand-alone',
      severity: 'error',
      comment: 'the folder of an emulator does not know the other emulators',
      from: { path: '^src/compute/emulators/([^/]+)/' },
      to: { path: '^src/compute/emulators/[^/]+/', pathNot: '^src/compute/emulators/$1/' },
    },
    {
      name: 'module-without-a-layer',
      severity: 'error',
      comment: 'a new folder of src gets a place above, or no rule looks at it',
      from: { path: '^src/', pathNot: [FAILURES, ...layers.flatMap((layer) => Object.values(layer))] },
      to: {},
    },
    {
      name: 'no-dead-files',
      severity: 'error',
      comment: 'a source that neither the executable nor one of its threads reaches is to be deleted',
      from: { path: ENTRIES },
      to: { path: '^src/', pathNot: [...ENTRIES, '[.]d[.]ts$'], reachable: false },
    },
    {
      name: 'no-tests-in-the-product',
      severity: 'error',
      comment: 'sources do not import tests',
      from: { path: '^src/' },
      to: { path: '^test/' },
    },
    {
      name: 'declared-dependencies',
      severity: 'error',
      comment: 'what the product imports stands in "dependencies" of package.json',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'npm-optional'] },
    },
    {
      name: 'resolvable',
      severity: 'error',
      comment: 'an import must lead somewhere',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
