// Which release this server speaks: what clients ask first. It is answered before the rest of the controller is read.
export const VERSION_PATH = '/v2/version';

export function versionAnswer(version: string, local: boolean): { version: string; local: boolean } {
  return { version, local };
}
