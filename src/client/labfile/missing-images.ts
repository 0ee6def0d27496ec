// Finds missing images and symbols before anything is created.
import { posix } from 'node:path';
import { findNodeKind } from '../../api/kinds/kinds.ts';
import { AUTO_ID } from '../../api/placement.ts';
import type { Template } from '../../api/routes/templates.ts';
import { Failure } from '../../failures.ts';
import { suggestion } from '../../host/values/nearest-name.ts';
import type { Api } from '../server/api.ts';
import { encodedName } from '../server/encoded-path.ts';
import type { ServerNode } from '../server/nodes.ts';
import type { Mistake } from './file-mistakes.ts';
import { nodeKey, type WantedLab, type WantedNode } from './model.ts';
import { baseOf, type NodePlan } from './plan-nodes.ts';

interface Listed {
  filename: string;
  path?: string;
  md5sum?: string | null;
}

/** An image that a node is to start from. */
interface Need {
  node: WantedNode;
  type: string;
  compute: string;
  property: string;
  image: string;
  md5sum: unknown;
}

/** A list requested once; undefined if the server does not provide it, so that nothing can be checked. */
class Lists {
  readonly #api: Api;
  readonly #asked = new Map<string, Promise<unknown[] | undefined>>();

  constructor(api: Api) {
    this.#api = api;
  }

  get<T>(path: string): Promise<T[] | undefined> {
    let list = this.#asked.get(path);
    if (!list) {
      list = this.#api.get<unknown[]>(path).catch((error: unknown) => {
        if (error instanceof Failure) return undefined;
        throw error;
      });
      this.#asked.set(path, list);
    }
    return list as Promise<T[] | undefined>;
  }
}

/** What the file's nodes need and the server does not have. */
export async function missingOf(
  api: Api,
  wanted: WantedLab,
  { found, templates }: Pick<NodePlan, 'found' | 'templates'>,
): Promise<Mistake[]> {
  const lists = new Lists(api);
  const all = wanted.nodes.map((node) => ({ node, is: found.get(nodeKey(node.name)) }));
  const images = all.flatMap(({ node, is }) => needsOf(node, is, templates.get(node)));
  const mistakes = await Promise.all([
    ...images.map((need) => missingImage(lists, need)),
    ...all.map(({ node, is }) => missingSymbol(lists, node, is)),
  ]);
  // Copies of a node have the same ones.
  const once = new Map(
    mistakes.flatMap((one) => (one ? [[`${one.line}:${one.column}`, one] as const] : [])).toReversed(),
  );
  return [...once.values()];
}

/** The images of a new node, or the changed images of an existing one. */
function needsOf(node: WantedNode, is: ServerNode | undefined, template: Template | undefined): Need[] {
  const type = is?.node_type ?? template?.template_type ?? node.type;
  const images = type === undefined ? undefined : findNodeKind(type)?.images;
  if (type === undefined || !images) return [];
  const compute = is?.compute_id ?? node.compute ?? 'local';
  const own = node.properties ?? {};
  const all: Readonly<Record<string, unknown>> = { ...(template && !is ? baseOf(template).properties : {}), ...own };
  return Object.entries(all).flatMap(([property, image]) => {
    if (!images.isReference(property) || typeof image !== 'string' || image === '') return [];
    // Lists of images do not include kernels.
    if (property === 'kernel_image' || is?.properties[property] === image) return [];
    const md5sum = all[`${property}_md5sum`] ?? all['md5sum'];
    return [{ node, type, compute, property, image, md5sum }];
  });
}

async function missingImage(lists: Lists, need: Need): Promise<Mistake | undefined> {
  const { node, type, compute, property, image, md5sum } = need;
  // It may lie anywhere on the host.
  if (posix.isAbsolute(image)) return undefined;
  const name = posix.basename(image.replaceAll('\\', '/'));
  const has = ({ filename, md5sum: known }: Listed): boolean =>
    posix.basename(filename) === name || (typeof md5sum === 'string' && md5sum !== '' && md5sum === known);
  // Hosts get missing images from the server.
  const hosts = [...new Set([compute, 'local'])];
  const known: string[] = [];
  for (const host of hosts) {
    const list = await lists.get<Listed>(`/v2/computes/${encodedName(host)}/${type}/images`);
    if (list === undefined || list.some(has)) return undefined;
    known.push(...list.map(({ filename }) => filename));
  }
  const isOwn = node.properties !== undefined && Object.hasOwn(node.properties, property);
  const elsewhere = compute === 'local' || compute === AUTO_ID ? '' : ` --compute ${compute}`;
  const upload = `labwired image upload ${name} --type ${type}${elsewhere}`;
  const where = `nodes.${node.name}.${isOwn ? `properties.${property}` : 'template'}`;
  const hint = suggestion(image, known).replace(/[^?]$/, '$&.');
  const message = `${where}: there is no image "${image}" on ${compute}; ${hint} Upload it: ${upload}`;
  return { ...node.origin.placeOf(isOwn ? ['properties', property] : ['template']), message };
}

async function missingSymbol(
  lists: Lists,
  { name, symbol, origin }: WantedNode,
  is: ServerNode | undefined,
): Promise<Mistake | undefined> {
  if (symbol == null || is?.symbol === symbol) return undefined;
  const list = await lists.get<{ symbol_id: string }>('/v2/symbols');
  if (list === undefined) return undefined;
  // Servers take the last part of a name, too.
  const names = list.map(({ symbol_id: id }) => posix.basename(id));
  const given = posix.basename(symbol);
  if (names.includes(given)) return undefined;
  const message = `nodes.${name}.symbol: the server has no symbol "${symbol}"; ${suggestion(given, [...new Set(names)])}`;
  return { ...origin.placeOf(['symbol']), message };
}
