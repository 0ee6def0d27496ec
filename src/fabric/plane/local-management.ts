// The local management interface of Frame Relay, network side: answers status enquiries of routers. Three dialects: ANSI T1.617 Annex D and
// ITU-T Q.933 Annex A (DLCI 0), and the older one of Cisco and others (DLCI 1023).

export interface CircuitStatus {
  dlci: number;
  active: boolean;
}

interface Dialect {
  /** The two address bytes. */
  address: readonly [number, number];
  /** Protocol discriminator. */
  protocol: number;
  /** Bytes between the message type and the first information element. */
  shift: readonly number[];
  // Identifiers of information elements.
  reportType: number;
  integrity: number;
  circuit: number;
}

const UNNUMBERED_INFORMATION = 0x03;
const CALL_REFERENCE = 0x00;
const STATUS_ENQUIRY = 0x75;
const STATUS = 0x7d;
const LOCKING_SHIFT = 0x95;
const DLCI_ZERO = [0x00, 0x01] as const;

const ANSI: Dialect = {
  address: DLCI_ZERO,
  protocol: 0x08,
  shift: [LOCKING_SHIFT],
  reportType: 0x01,
  integrity: 0x03,
  circuit: 0x07,
};
const ITU: Dialect = { ...ANSI, shift: [], reportType: 0x51, integrity: 0x53, circuit: 0x57 };
const CISCO: Dialect = { ...ANSI, address: [0xfc, 0xf1], protocol: 0x09, shift: [] };

const FULL_STATUS = 0;
const INTEGRITY_ONLY = 1;
const ACTIVE = 0x02;
const EXTENSION = 0x80;
/** Longest status: the frame size that any router accepts, 1,500 bytes after the address. Further circuits are left out. */
const MOST_BYTES = 1502;

/** Whether the DLCI is for management, not for a circuit. */
export function isManagement(dlci: number): boolean {
  return dlci === 0 || dlci === 1023;
}

/**
 * The answer to an enquiry, including the address; undefined if the frame is no enquiry.
 * @param sequence the sequence number of this answer
 * @param circuits the port's circuits, for a full status
 */
export function answerEnquiry(frame: Buffer, sequence: number, circuits: () => CircuitStatus[]): Buffer | undefined {
  const [, , control, protocol, callReference, message, first] = frame;
  if (control !== UNNUMBERED_INFORMATION || callReference !== CALL_REFERENCE || message !== STATUS_ENQUIRY) return;
  const cisco = frame[0] === CISCO.address[0] && frame[1] === CISCO.address[1];
  const dialect = cisco ? CISCO : first === LOCKING_SHIFT ? ANSI : ITU;
  if (protocol !== dialect.protocol) return;
  const asked = elements(frame.subarray(6 + dialect.shift.length));
  const report = asked.get(dialect.reportType)?.[0] === FULL_STATUS ? FULL_STATUS : INTEGRITY_ONLY;
  const heard = asked.get(dialect.integrity)?.[0];
  if (heard === undefined) return;
  const answer = [
    ...dialect.address,
    UNNUMBERED_INFORMATION,
    dialect.protocol,
    CALL_REFERENCE,
    STATUS,
    ...dialect.shift,
  ];
  answer.push(dialect.reportType, 1, report, dialect.integrity, 2, sequence, heard);
  if (report === FULL_STATUS) {
    for (const circuit of circuits()) {
      const element = circuitElement(dialect, circuit);
      if (answer.length + element.length > MOST_BYTES) break;
      answer.push(...element);
    }
  }
  return Buffer.from(answer);
}

function circuitElement(dialect: Dialect, { dlci, active }: CircuitStatus): number[] {
  const status = active ? ACTIVE : 0;
  // Cisco's has the plain DLCI, and a bandwidth, which is left at 0.
  if (dialect === CISCO) return [dialect.circuit, 6, dlci >> 8, dlci & 0xff, status, 0, 0, 0];
  return [dialect.circuit, 3, dlci >> 4, EXTENSION | ((dlci & 0x0f) << 3), EXTENSION | status];
}

/** Information elements by identifier; a truncated one is left out. */
function elements(bytes: Buffer): Map<number, Buffer> {
  const found = new Map<number, Buffer>();
  for (let at = 0; at + 2 <= bytes.length; ) {
    const end = at + 2 + bytes[at + 1]!;
    if (end <= bytes.length) found.set(bytes[at]!, bytes.subarray(at + 2, end));
    at = end;
  }
  return found;
}
