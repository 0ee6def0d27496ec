// Which release this server speaks: what clients ask first.
import { type Route, route } from '../../http/app/route.ts';

export function versionRoute(version: string, local: boolean): Route {
  return route('GET /v2/version', {}, () => ({ version, local }));
}
