// A checked lab file, with copies expanded and variables filled in.

import type { Variables } from '../../api/vocabulary.ts';
import { quoted } from '../../host/terminal/shell-word.ts';
import type { WantedText } from './contents.ts';
import type { Place } from './file-mistakes.ts';
import type { Check, DrawingText, LabText, LinkText, NodeText, Start } from './schema.ts';
import type { Path } from './source.ts';

type Filled<T, Text extends keyof T> = Omit<T, Text>;

/** Where something stands that is said of a part of the file. */
export interface Origin {
  /** From the whole file. */
  path: Path;
  /** The place of the value at this path. */
  placeOf(path: Path, of?: 'key'): Place;
}

export interface WantedNode extends Filled<NodeText, 'config' | 'private_config' | 'files' | 'step' | 'start'> {
  name: string;
  /** In the file. */
  place: Place;
  origin: Origin;
  config?: WantedText;
  private_config?: WantedText;
  /** By their path below the node's directory. */
  files: Readonly<Record<string, WantedText>>;
  start: Start;
}

export interface WantedEnd {
  /** Name of a node of the file. */
  node: string;
  /** Undefined: the first free one that fits. */
  port: string | undefined;
}

export interface WantedLink extends Omit<LinkText, 'link'> {
  /** The text in the file, with copies expanded. */
  text: string;
  place: Place;
  ends: readonly [WantedEnd, WantedEnd];
}

export interface WantedDrawing extends Omit<DrawingText, 'svg'> {
  place: Place;
  svg: string;
}

export interface WantedCheck extends Check {
  place: Place;
}

export interface WantedLab {
  /** As it was named on the command line. */
  file: string;
  name: string;
  id: string | undefined;
  settings: NonNullable<LabText['settings']>;
  /** As the API has them; undefined when the file says nothing of them. */
  variables: Variables | undefined;
  nodes: WantedNode[];
  links: WantedLink[];
  drawings: WantedDrawing[];
  checks: WantedCheck[];
}

/** The name of standard input in messages. */
export const STANDARD_INPUT = 'standard input';

/** The file as a shell-quoted command argument. */
export function fileWord({ file }: WantedLab): string {
  return file === STANDARD_INPUT ? '-' : quoted(file);
}

/** Servers drop spaces in node names, so names with equal keys mean the same node. */
export function nodeKey(name: string): string {
  return name.replaceAll(' ', '');
}
