// The format of lab files. The reader checks files with it; the JSON Schema for editors is made from it.
import * as v from 'valibot';
import { LinkImpairmentsBody } from '../../api/routes/links.ts';
import { PROJECT_SETTINGS, START_MEMBERS } from '../../api/topology.ts';
import {
  AnyObject,
  ConsolePort,
  ConsoleType,
  CustomAdapter,
  Integer,
  Label,
  NodeType,
  Rotation,
  Text,
  Uuid,
} from '../../api/vocabulary.ts';

const { variables: _variables, ...SETTINGS } = PROJECT_SETTINGS;

const said = <Schema extends v.GenericSchema>(schema: Schema, words: string) => v.pipe(schema, v.description(words));

const Seconds = v.pipe(v.number(), v.gtValue(0), v.maxValue(86_400));

/** A text that stands in the file, or in another one beside it. */
export const Content = said(
  v.union([v.string(), v.strictObject({ file: said(Text, 'Path of a file, seen from this one') })]),
  'The text itself, or {file: PATH}',
);
export type Content = v.InferOutput<typeof Content>;

const Place = v.tuple([Integer, Integer]);

/** Text to find in console output. */
export const Expected = said(
  v.union([Text, v.strictObject({ regex: said(Text, 'A regular expression of JavaScript') })]),
  'A text, or {regex: EXPRESSION}',
);
export type Expected = v.InferOutput<typeof Expected>;

const Timeout = v.optional(said(Seconds, 'Seconds that it may take'));

/** A ping that has to be answered. */
export const Ping = v.strictObject({
  from: said(Text, 'The node at whose console the ping is typed'),
  to: said(Text, 'An address, or the name of a node'),
  count: v.optional(v.pipe(Integer, v.minValue(1), v.maxValue(1000))),
  loss: v.optional(said(v.pipe(v.number(), v.minValue(0), v.maxValue(100)), 'Percent that may be lost; 0')),
  round_trip: v.optional(
    said(
      v.strictObject({
        min: v.optional(v.pipe(v.number(), v.minValue(0))),
        max: v.optional(v.pipe(v.number(), v.minValue(0))),
      }),
      'Milliseconds that the echoes have to take on average',
    ),
  ),
  timeout: Timeout,
});
export type Ping = v.InferOutput<typeof Ping>;

/** A node is ready when its console says so, or a ping is answered. */
export const Ready = v.strictObject({
  console: v.optional(Expected),
  send: v.optional(said(v.string(), 'A line that is typed before')),
  ping: v.optional(Ping),
  timeout: Timeout,
});
export type Ready = v.InferOutput<typeof Ready>;

export const Start = v.strictObject({
  order: v.optional(said(START_MEMBERS.start_order.wrapped, 'Nodes with a lower number start before; 0')),
  delay: v.optional(
    said(START_MEMBERS.start_delay.wrapped, 'Seconds between the start of the nodes before and its own'),
  ),
  after: v.optional(said(v.array(Text), 'Nodes that have to be ready before')),
  ready: v.optional(said(Ready, 'When the node counts as started')),
});
export type Start = v.InferOutput<typeof Start>;

export const Node = v.strictObject({
  template: v.optional(said(Text, 'Name or id of a template')),
  type: v.optional(said(NodeType, 'What it is, in place of a template')),
  template_id: v.optional(v.nullable(Uuid)),
  compute: v.optional(said(Text, 'The host that it runs on; local. auto leaves the choice to the server')),
  at: v.optional(said(Place, 'Its place on the map: [X, Y]; laid out when it is not given')),
  step: v.optional(said(Place, 'How far the copies of a counted node stand from each other; [120, 0]')),
  z: v.optional(Integer),
  locked: v.optional(v.boolean()),
  symbol: v.optional(v.nullable(Text)),
  label: v.optional(v.omit(Label, ['text'])),
  console: v.optional(
    v.strictObject({
      type: v.optional(v.nullable(ConsoleType)),
      port: v.optional(ConsolePort),
      auto_start: v.optional(v.boolean()),
    }),
  ),
  properties: v.optional(said(AnyObject, 'What the API calls the properties of this type of node')),
  custom_adapters: v.optional(v.array(CustomAdapter)),
  ports: v.optional(
    v.strictObject({
      format: v.optional(v.string()),
      segment_size: v.optional(v.pipe(Integer, v.minValue(0))),
      first: v.optional(v.nullable(v.string())),
    }),
  ),
  config: v.optional(said(Content, 'The start-up configuration, of vpcs, dynamips and iou')),
  private_config: v.optional(said(Content, 'The private configuration, of dynamips and iou')),
  files: v.optional(said(v.record(Text, Content), 'Files of the node, by their path below its directory')),
  start: v.optional(Start),
});
export type NodeText = v.InferOutput<typeof Node>;

const FilterValue = v.union([v.number(), v.string()]);

const ENDS = said(Text, 'NODE:PORT -- NODE:PORT');

export const Link = v.strictObject({
  link: ENDS,
  filters: v.optional(
    said(
      v.record(Text, v.union([FilterValue, v.array(FilterValue)])),
      'frequency_drop, packet_loss, delay, corrupt, bpf',
    ),
  ),
  impairments: v.optional(said(LinkImpairmentsBody, 'Rates, delays, losses by direction: docs/impairments.md')),
  suspended: v.optional(v.boolean()),
  style: v.optional(said(AnyObject, 'How it is drawn')),
  labels: v.optional(said(v.tuple([Label, Label]), 'The texts at its two ends')),
});
export type LinkText = v.InferOutput<typeof Link>;

export const Drawing = v.strictObject({
  svg: said(Content, 'A picture in SVG'),
  at: said(Place, 'Its place on the map: [X, Y]'),
  z: v.optional(Integer),
  locked: v.optional(v.boolean()),
  rotation: v.optional(Rotation),
});
export type DrawingText = v.InferOutput<typeof Drawing>;

/** Exactly one of `ping`, `console` and `frame`; the reader sees to it. */
export const Check = v.strictObject({
  name: v.optional(said(Text, 'What the check is called in the report')),
  ping: v.optional(Ping),
  console: v.optional(
    v.strictObject({
      node: Text,
      send: v.optional(said(v.string(), 'A line that is typed before')),
      expect: Expected,
      timeout: Timeout,
    }),
  ),
  frame: v.optional(
    v.strictObject({
      link: said(Text, 'The link, as in links, or one of its ends'),
      filter: v.optional(said(Text, 'What is looked for, as tcpdump writes it; any frame without it')),
      timeout: Timeout,
    }),
  ),
});
export type Check = v.InferOutput<typeof Check>;

export const LabText = v.strictObject({
  name: said(Text, 'The name of the lab, by which it is found again'),
  id: v.optional(said(Uuid, 'The id of the lab; it is found by this one then')),
  settings: v.optional(said(v.strictObject(SETTINGS), 'How the lab behaves and is shown')),
  variables: v.optional(
    said(
      v.record(Text, v.nullable(v.union([v.string(), v.number(), v.boolean()]))),
      'Values for the placeholders in texts, by name; the lab has them as its variables, too',
    ),
  ),
  nodes: v.optional(said(v.record(Text, Node), 'Nodes by name; PC{1..20} are twenty')),
  links: v.optional(v.array(v.union([ENDS, Link]))),
  drawings: v.optional(v.array(Drawing)),
  checks: v.optional(said(v.array(Check), 'What labwired test looks at')),
});
export type LabText = v.InferOutput<typeof LabText>;

/** A file of checks alone, of a lab that has no file. */
export const ChecksText = v.pick(LabText, ['variables', 'checks']);
