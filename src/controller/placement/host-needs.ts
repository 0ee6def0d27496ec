// What a node needs of its host, from its kind and its properties.
import { findNodeKind } from '../../api/kinds/kinds.ts';
import { imagesIn } from '../projects/image-users.ts';
import type { Needs } from './problem.ts';

type Properties = Readonly<Record<string, unknown>>;

/** @param linked the ports that have links; without it all may get them */
export function needsOf(type: string, properties: Properties, linked?: ReadonlySet<number> | undefined): Needs {
  const reader = {
    number: (name: string, usual: number): number => {
      const value = properties[name];
      return typeof value === 'number' && Number.isFinite(value) ? value : usual;
    },
    text: (name: string): string => String(properties[name] ?? ''),
    list: (name: string): readonly unknown[] => (Array.isArray(properties[name]) ? properties[name] : []),
  };
  const {
    memory,
    load,
    processors = 1,
    kvm = false,
    interfaces = [],
  } = findNodeKind(type)?.needs?.(reader) ?? { memory: 1, load: 0.01 };
  const used = interfaces.filter((name, port) => name !== undefined && (linked?.has(port) ?? true)) as string[];
  return { memory, load, processors, kvm, interfaces: used, images: [...imagesIn(type, properties)] };
}
