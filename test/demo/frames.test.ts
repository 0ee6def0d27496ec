// The one-line descriptions of frames, and the way they come out of a growing capture.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CapturedFrame, capturedFrames } from '../../src/client/captures/captured-frames.ts';
import { describeFrame } from '../../src/client/captures/frame-line.ts';
import { microsecondPcap } from '../../src/fabric/pcap.ts';

const PC1 = '005079666800';
const PC2 = '005079666801';
const EVERYBODY = 'ffffffffffff';

function frame(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(' ', ''), 'hex');
}

const QUESTION = frame(`${EVERYBODY} ${PC1} 0806 0001 0800 06 04 0001 ${PC1} 0a000001 ${EVERYBODY} 0a000002`);
const ANSWER = frame(`${PC1} ${PC2} 0806 0001 0800 06 04 0002 ${PC2} 0a000002 ${PC1} 0a000001`);
const CLAIM = frame(`${EVERYBODY} ${PC1} 0806 0001 0800 06 04 0001 ${PC1} 0a000001 ${EVERYBODY} 0a000001`);

function ipv4(protocol: string, payload: string): Buffer {
  return frame(`${PC2} ${PC1} 0800 45 00 0054 0001 0000 40 ${protocol} 0000 0a000001 0a000002 ${payload}`);
}

test('a frame is reported with its sender, its receiver and what it wants', () => {
  assert.equal(describeFrame(QUESTION), '00:50:79:66:68:00 > everybody          ARP   who has 10.0.0.2? Tell 10.0.0.1');
  assert.equal(describeFrame(ANSWER), '00:50:79:66:68:01 > 00:50:79:66:68:00  ARP   10.0.0.2 is at 00:50:79:66:68:01');
  assert.match(describeFrame(CLAIM), /ARP {3}does anybody else have 10\.0\.0\.1\?$/);
  assert.equal(
    describeFrame(ipv4('01', '08 00 0000 1234 0003 0000')),
    '00:50:79:66:68:00 > 00:50:79:66:68:01  ICMP  10.0.0.1 > 10.0.0.2 echo request, sequence 3',
  );
  assert.match(describeFrame(ipv4('01', '00 00 0000 1234 0003')), /ICMP .* echo reply, sequence 3$/);
  assert.match(describeFrame(ipv4('01', '03 01 0000 0000 0000')), /ICMP .* type 3 code 1$/);
  assert.match(describeFrame(ipv4('11', '')), /IPv4 {2}10\.0\.0\.1 > 10\.0\.0\.2 UDP$/);
  assert.match(describeFrame(ipv4('ff', '')), /protocol 255$/);
  assert.match(describeFrame(frame(`${PC2} ${PC1} 86dd 60000000`)), / IPv6$/);
  assert.match(describeFrame(frame(`${PC2} ${PC1} 9000 0000`)), / type 0x9000$/);
  assert.match(describeFrame(frame(`${PC2} ${PC1} 0026 4242 03`)), / 802\.3, 38 bytes$/);
});

test('a frame that is cut off anywhere is reported all the same', () => {
  for (const whole of [QUESTION, ANSWER, ipv4('01', '08 00 0000 1234 0003 0000')]) {
    for (let length = 0; length < whole.length; length += 1) assert.ok(describeFrame(whole.subarray(0, length)));
  }
  assert.equal(describeFrame(Buffer.alloc(3)), '3 bytes, too short for Ethernet');
  assert.match(describeFrame(QUESTION.subarray(0, 20)), /ARP, cut off$/);
  assert.match(describeFrame(ipv4('01', '')), /ICMP .*, cut off$/);
});

async function collect(chunks: Iterable<Uint8Array>): Promise<CapturedFrame[]> {
  const frames: CapturedFrame[] = [];
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  for await (const captured of capturedFrames(stream)) frames.push(captured);
  return frames;
}

test('frames of a capture are the same however its bytes arrive', async () => {
  const records = Buffer.alloc(1000);
  const write = (offset: number, microseconds: number, frame: Buffer): number => {
    const time = { seconds: 1_700_000_000, nanoseconds: microseconds * 1000 };
    return microsecondPcap.write(records, offset, time, frame, frame.length, frame.length, true);
  };
  const end = write(write(0, 1, QUESTION), 250_000, ANSWER);
  const file = Buffer.concat([microsecondPcap.header({ linkType: 'DLT_EN10MB' }), records.subarray(0, end)]);
  const expected = [
    { time: 1_700_000_000_000_001, bytes: QUESTION },
    { time: 1_700_000_000_250_000, bytes: ANSWER },
  ];
  for (const size of [1, 7, 40, file.length]) {
    const chunks = Array.from({ length: Math.ceil(file.length / size) }, (_, index) =>
      file.subarray(index * size, (index + 1) * size),
    );
    assert.deepEqual(await collect(chunks), expected);
  }
  assert.deepEqual(await collect([file.subarray(0, -1)]), expected.slice(0, 1), 'half a frame is none');
});

test('an invalid capture is refused', async () => {
  await assert.rejects(collect([Buffer.alloc(24)]), { code: 'invalid', message: /not in pcap format/ });
  const endless = Buffer.concat([microsecondPcap.header({ linkType: 'DLT_EN10MB' }), Buffer.alloc(16, 0xff)]);
  await assert.rejects(collect([endless]), { code: 'invalid', message: /damaged/ });
});
