// Icons for buttons, drawn for this page on a 16 × 16 grid. A button always has its name as text or label, too.

/** By the ids of verbs. */
const PATHS: Readonly<Record<string, string>> = {
  'lab.start': 'M5 3.2v9.6L12.6 8z',
  'lab.stop': 'M4 4h8v8H4z',
  'lab.node':
    'M2.5 4a1.5 1.5 0 0 1 1.5-1.5h8A1.5 1.5 0 0 1 13.5 4v8a1.5 1.5 0 0 1-1.5 1.5H4A1.5 1.5 0 0 1 2.5 12zM8 5.4v5.2M5.4 8h5.2',
  'lab.link':
    'M5 11 11 5M2.2 12.1a1.9 1.9 0 1 0 3.8 0 1.9 1.9 0 1 0-3.8 0M10 3.9a1.9 1.9 0 1 0 3.8 0 1.9 1.9 0 1 0-3.8 0',
  'lab.text': 'M3.5 5V3.2h9V5M8 3.2v9.6M6.2 12.8h3.6',
  'lab.rectangle': 'M2.2 4h11.6v8H2.2z',
  'lab.ellipse': 'M2 8a6 4.2 0 1 0 12 0A6 4.2 0 1 0 2 8',
  'lab.line': 'M3 13 13 3',
  'lab.undo': 'M5.6 2.8 2.6 5.8l3 3M2.6 5.8h6.9a3.7 3.7 0 0 1 0 7.4H6.4',
  'lab.redo': 'M10.4 2.8l3 3-3 3M13.4 5.8H6.5a3.7 3.7 0 0 0 0 7.4h3.1',
  'lab.traffic': 'M1.6 8.4h3L6.4 3.2l3.2 9.6 1.8-4.4h3',
  'lab.arrange': 'M6 2.4h4v3H6zM1.8 10.6h4v3h-4zM10.2 10.6h4v3h-4zM8 5.4v2.8M3.8 10.6V8.2h8.4v2.4',
  'lab.fit': 'M2.5 5.8V2.5h3.3M10.2 2.5h3.3v3.3M13.5 10.2v3.3h-3.3M5.8 13.5H2.5v-3.3',
  'lab.snapshots': 'M8 4.6V8l2.3 1.5M2.6 8a5.4 5.4 0 1 0 1.6-3.8L2.6 5.6M2.6 2.8v2.8h2.8',
  'lab.export': 'M8 2.4v7.4M4.9 6.9 8 10l3.1-3.1M2.6 11v2.4h10.8V11',
  'page.command': 'M2.6 7a4.4 4.4 0 1 0 8.8 0 4.4 4.4 0 1 0-8.8 0M10.2 10.2l3.4 3.4',
};

/** Renders nothing if there is no icon. */
export function Icon({ of }: { of: string }) {
  const path = PATHS[of];
  if (path === undefined) return null;
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

/** Two nodes and their link. */
export function Brand() {
  return (
    <svg class="brand" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M6 17C6 8 18 16 18 7" />
      <circle cx="6" cy="18" r="3.4" />
      <circle cx="18" cy="6" r="3.4" />
    </svg>
  );
}
