// A lab as its file wants it: checked, its copies counted out and its variables filled in.

import { quoted } from '../../host/terminal/shell-word.ts';
import type { Variables } from '../../store/vocabulary.ts';
import type { WantedText } from './contents.ts';
import type { Place } from './mistakes.ts';
import type { Check, DrawingText, LabText, LinkText, NodeText, Start } from './schema.ts';
import type { Path } from './source.ts';

type Filled<T, Text extends keyof T> = Omit<T, Text>;

/** Where something stands that is said of a part of the file. */
export interface Origin {
  /** From the whole file. */
  path: Path;
  /** Of what is at the end of this way from there. */
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
  /** As the file has it, counted out. */
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

/** What standard input is called in messages. */
export const STANDARD_INPUT = 'standard input';

/** The file as a word of a command, as a shell wants it. */
export function fileWord({ file }: WantedLab): string {
  return file === STANDARD_INPUT ? '-' : quoted(file);
}

/** What a server makes of a name: it leaves blanks out. Two names that are equal then mean the same node. */
export function nodeKey(name: string): string {
  return name.replaceAll(' ', '');
}
