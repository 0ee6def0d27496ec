// Which release this server speaks.
import { type Route, route } from '../../http/route.ts';
import { VERSION_PATH, versionAnswer } from './version-answer.ts';

export function versionRoute(version: string, local: boolean): Route {
  return route(`GET ${VERSION_PATH}`, {}, () => versionAnswer(version, local));
}
