// What a node needs of its host, from its kind and its properties.
import { findNodeKind } from '../../api/kinds/kinds.ts';
import { imagesIn } from '../projects/image-users.ts';
import type { Needs } from './problem.ts';

type Properties = Readonly<Record<string, unknown>>;

export function needsOf(type: string, properties: Properties): Needs {
  const reader = {
    number: (name: string, usual: number): number => {
      const value = properties[name];
      return typeof value === 'number' && Number.isFinite(value) ? value : usual;
    },
    text: (name: string): string => String(properties[name] ?? ''),
  };
  const {
    memory,
    load,
    processors = 1,
    kvm = false,
  } = findNodeKind(type)?.needs?.(reader) ?? { memory: 1, load: 0.01 };
  return { memory, load, processors, kvm, images: [...imagesIn(type, properties)] };
}
