// Which requests may pass, by Host, Origin and Sec-Fetch-Site: what keeps other sites' pages away from the labs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLoopback } from '../../src/host/network/loopback.ts';
import { hostName, refusal } from '../../src/http/access/guard.ts';

const rules = { hosts: ['labhost', 'lab.example.net'], origins: ['https://gns3.github.io'] };
const request = {
  ...{ method: 'GET', host: undefined, origin: undefined, secFetchSite: undefined, secFetchMode: undefined },
  ...{ path: '/v2/projects', secFetchDest: undefined, secure: false },
};

test('clients that name this server by address, localhost or a configured name are served', () => {
  for (const host of [
    undefined,
    '127.0.0.1:3080',
    '192.0.2.7',
    '[::1]:3080',
    '[2001:db8::5]',
    'localhost:3080',
    'LOCALHOST',
    'a.localhost',
    'labhost.local',
    'labhost',
    'LabHost:3080',
    'labhost.:3080',
    'lab.example.net',
  ]) {
    assert.equal(refusal({ ...request, host }, rules), undefined, String(host));
  }
});

test('a name that an attacker can point at this machine (DNS rebinding) is refused', () => {
  for (const host of [
    'evil.example',
    'localhost.evil.example',
    'labhost.evil.example',
    '127.0.0.1.evil.example',
    'local',
    'a b',
    '',
    'x/y',
    '[::1',
    '127.0.0.1:99999999',
  ]) {
    assert.ok(refusal({ ...request, host }, rules), host);
  }
});

test('pages of this site and of allowed origins may send requests, others may not', () => {
  const cases: [origin: string, host: string, pass: boolean][] = [
    ['http://127.0.0.1:3080', '127.0.0.1:3080', true],
    ['http://127.0.0.1:8080', '127.0.0.1:3080', false],
    ['https://127.0.0.1:3080', '127.0.0.1:3080', false],
    ['http://127.0.0.1', '127.0.0.1:3080', false],
    ['http://127.0.0.1:3080', '127.0.0.1', false],
    ['http://127.0.0.1', '127.0.0.1:80', true],
    ['http://127.0.0.1:80', '127.0.0.1', true],
    ['http://LABHOST:3080', 'labhost:3080', true],
    ['http://[::1]:3080', '[::1]:3080', true],
    ['https://gns3.github.io', '127.0.0.1:3080', true],
    ['http://gns3.github.io', '127.0.0.1:3080', false],
    ['http://evil.example', '127.0.0.1:3080', false],
    ['http://localhost:3080', '127.0.0.1:3080', false],
    ['null', '127.0.0.1:3080', false],
    ['file://', '127.0.0.1:3080', false],
    ['chrome-extension://abcdef', '127.0.0.1:3080', false],
    ['http://127.0.0.1.evil.example', '127.0.0.1:3080', false],
  ];
  for (const [origin, host, pass] of cases) {
    for (const method of ['GET', 'POST', 'DELETE']) {
      assert.equal(
        refusal({ ...request, method, host, origin }, rules) === undefined,
        pass,
        `${method} ${origin} -> ${host}`,
      );
    }
  }
});

test('over TLS only pages that came over TLS are of this site', () => {
  const secure = { ...request, secure: true, host: 'labhost:3080' };
  assert.equal(refusal({ ...secure, origin: 'https://labhost:3080' }, rules), undefined);
  assert.ok(refusal({ ...secure, origin: 'http://labhost:3080' }, rules));
  assert.equal(refusal({ ...secure, host: 'labhost', origin: 'https://labhost:443' }, rules), undefined);
  assert.ok(refusal({ ...secure, origin: 'https://labhost' }, rules));
});

test('a cross-site request without Origin (an image, a form of an old browser) is refused, following a link is not', () => {
  const crossSite = { ...request, host: '127.0.0.1', secFetchSite: 'cross-site' };
  assert.ok(refusal({ ...crossSite, secFetchMode: 'no-cors' }, rules));
  assert.ok(refusal({ ...crossSite, method: 'POST', secFetchMode: 'navigate' }, rules));
  assert.equal(refusal({ ...crossSite, secFetchMode: 'navigate' }, rules), undefined);
  assert.equal(refusal({ ...crossSite, secFetchSite: 'same-origin', secFetchMode: 'cors' }, rules), undefined);
  const otherPort = { ...crossSite, secFetchSite: 'same-site' };
  assert.ok(refusal({ ...otherPort, secFetchMode: 'no-cors' }, rules), 'a page on another port of this host');
  assert.ok(refusal({ ...otherPort, method: 'POST', secFetchMode: 'navigate' }, rules));
  assert.equal(refusal({ ...otherPort, secFetchMode: 'navigate' }, rules), undefined);
});

test('the picture of a symbol may be shown by any page, and nothing else', () => {
  const image = { ...request, host: '127.0.0.1', secFetchMode: 'no-cors', secFetchDest: 'image' };
  const symbol = '/v2/symbols/:/symbols/classic/router.svg/raw';
  for (const secFetchSite of ['cross-site', 'same-site']) {
    const shown = { ...image, secFetchSite };
    assert.equal(refusal({ ...shown, path: symbol }, rules), undefined);
    assert.ok(refusal({ ...shown, path: '/v2/projects' }, rules));
    assert.ok(refusal({ ...shown, path: '/v2/projects/x/files/a.png' }, rules));
    assert.ok(refusal({ ...shown, path: symbol, method: 'POST' }, rules));
    assert.ok(refusal({ ...shown, path: symbol, secFetchDest: 'script' }, rules));
    assert.ok(refusal({ ...shown, path: symbol, host: 'evil.example' }, rules));
    assert.ok(refusal({ ...shown, path: symbol, origin: 'http://evil.example' }, rules), 'it could read the picture');
  }
});

test('host names are read without port, brackets, case and final dot', () => {
  assert.equal(hostName('[2001:DB8::1]:80'), '2001:db8::1');
  assert.equal(hostName('Lab.Example.:3080'), 'lab.example');
  assert.equal(hostName('user@host'), undefined);
});

test('only loopback counts as unreachable from the network', () => {
  for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost']) assert.ok(isLoopback(host), host);
  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'labhost']) assert.ok(!isLoopback(host), host);
});
