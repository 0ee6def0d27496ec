// The manifests for Kubernetes: each object is valid by the schemas of Kubernetes, and has no member that they do not have.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';

// biome-ignore lint/suspicious/noExplicitAny: what it has is the subject of the test
type Loose = any;

const FILE = join(import.meta.dirname, '../deploy/kubernetes/labwire.yaml');

interface Manifest {
  apiVersion: string;
  kind: string;
  spec?: Record<string, unknown>;
}

interface Model {
  validate(): void;
}

const packages = createRequire(import.meta.url);
const skip = isInstalled() ? false : 'kubernetes-models, which has the schemas, is not installed: npm ci';

function isInstalled(): boolean {
  try {
    return packages.resolve('kubernetes-models') !== '';
  } catch {
    return false;
  }
}

/** The same object, which notes the members that were read. Validators read those that they know. */
function watched<T>(value: T, path: string, read: Set<string>): T {
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.entries(value).map(([key, one]) => [key, watched(one, `${path}/${key}`, read)]);
  const copy = Array.isArray(value) ? inner.map(([, one]) => one) : Object.fromEntries(inner);
  return new Proxy(copy, {
    get(target, key) {
      if (typeof key === 'string') read.add(`${path}/${key}`);
      return Reflect.get(target, key);
    },
  });
}

function pathsIn(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => [`${path}/${key}`, ...pathsIn(one, `${path}/${key}`)]);
}

/** What is wrong with an object; empty for a valid one. */
function problemsOf(manifest: Manifest): string {
  const models = packages(`kubernetes-models/${manifest.apiVersion}`) as Record<string, { prototype: Model }>;
  const model = models[manifest.kind];
  if (!model) return `there is no ${manifest.kind} in ${manifest.apiVersion}`;
  const read = new Set<string>();
  try {
    model.prototype.validate.call(watched(manifest, '', read));
  } catch (error) {
    return String(error);
  }
  return pathsIn(manifest)
    .filter((path) => !read.has(path))
    .map((path) => `${path} is no member of ${manifest.kind}`)
    .join('; ');
}

const items = (): Manifest[] => (parse(readFileSync(FILE, 'utf8')) as { items: Manifest[] }).items;

test('the manifests are valid', { skip }, () => {
  const all = items();
  assert.deepEqual(
    all.map(({ kind }) => kind),
    ['Namespace', 'ConfigMap', 'Service', 'Service', 'StatefulSet', 'DaemonSet'],
  );
  for (const manifest of all) assert.equal(problemsOf(manifest), '', manifest.kind);
});

test('planted mistakes are found: a missing member, a wrong type, an unknown value, a misspelt name', { skip }, () => {
  const changed = (kind: string, change: (spec: Loose) => void): string => {
    const manifest = structuredClone(items().find((one) => one.kind === kind)) as Manifest;
    change(manifest.spec);
    return problemsOf(manifest);
  };
  const container = (spec: Loose): Loose => spec.template.spec.containers[0];
  assert.match(
    changed('DaemonSet', (spec) => delete spec.selector),
    /selector/,
  );
  assert.match(
    changed('StatefulSet', (spec) => Object.assign(spec, { replicas: '3' })),
    /replicas must be integer/,
  );
  assert.match(
    changed('StatefulSet', (spec) => Object.assign(spec, { podManagementPolicy: 'Ordered' })),
    /podManagementPolicy/,
  );
  assert.match(
    changed('DaemonSet', (spec) => Object.assign(container(spec), { livenessprobe: {} })),
    /livenessprobe is no member/,
  );
  assert.match(
    changed('DaemonSet', (spec) => Object.assign(container(spec).startupProbe.tcpSocket, { ports: 1 })),
    /ports is no member/,
  );
});

test('names that refer to each other are the same', () => {
  const [, settings, , headless, ...workloads] = items() as Loose[];
  assert.equal(workloads[0].spec.serviceName, headless.metadata.name);
  for (const { metadata, spec } of workloads) {
    const { template } = spec;
    assert.equal(metadata.namespace, 'labwire');
    assert.deepEqual(spec.selector.matchLabels, template.metadata.labels);
    const claims = (spec.volumeClaimTemplates ?? []).map((claim: Loose) => claim.metadata.name);
    const volumes = new Set([...template.spec.volumes.map(({ name }: Loose) => name), ...claims]);
    const images = new Set<string>();
    for (const container of [...template.spec.initContainers, ...template.spec.containers]) {
      images.add(container.image);
      for (const { name } of container.volumeMounts) assert.ok(volumes.has(name), name);
      for (const { configMapRef } of container.envFrom ?? []) assert.equal(configMapRef.name, settings.metadata.name);
    }
    assert.equal(images.size, 1);
    const [{ ports, startupProbe, readinessProbe, livenessProbe }] = template.spec.containers;
    for (const probe of [startupProbe, readinessProbe, livenessProbe])
      assert.equal(probe.tcpSocket.port, ports[0].name);
    assert.ok(template.spec.hostNetwork);
  }
});
