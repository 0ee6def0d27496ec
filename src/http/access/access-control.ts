// What stands between those who have logged in and a route.
import type { Route, RouteRequest } from '../app/route.ts';
import type { Admission, Identity } from './identity.ts';

/** What was answered to a request that had been dispatched. */
export interface Answered {
  status: number;
  /** The object that was answered, where it was one. */
  answer: unknown;
  requestId: string | undefined;
  admission: Admission | undefined;
}

export interface AccessControl {
  /** Whether somebody may use a route, with these parameters. @throws Failure `forbidden`, `not-found` */
  admit(route: Route, request: Pick<RouteRequest, 'params' | 'query'>, identity: Identity): Admission;
  /** Told of each request of somebody who has logged in. */
  answered(route: Route, request: RouteRequest, identity: Identity, answered: Answered): void;
}
