// Which release this server speaks: what clients ask first. It answers before the rest of the controller is read.
import { type Route, route } from '../../http/route.ts';

export function versionRoute(version: string, local: boolean): Route {
  return route('GET /v2/version', {}, () => ({ version, local }));
}
