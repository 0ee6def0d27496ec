// The used part of seek-bzip, as the package has no types.
declare module 'seek-bzip' {
  interface Input {
    readByte(): number;
    read(into: Buffer, offset: number, length: number): number;
  }

  interface Output {
    writeByte(byte: number): void;
  }

  export default class Bunzip {
    /** Reads the head of the stream. */
    constructor(input: Input, output: Output);
    /** Reads the next block; false at the end of the stream. */
    _init_block(): boolean;
    /** Writes that block. */
    _read_bunzip(): void;
  }
}
