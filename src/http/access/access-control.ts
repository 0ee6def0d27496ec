// The interface for rights: which authenticated client may use which route.
import type { Route, RouteRequest } from '../app/route.ts';
import type { Admission, Identity } from './identity.ts';

/** The response to a dispatched request. */
export interface Answered {
  status: number;
  /** The response object, if it was one. */
  answer: unknown;
  requestId: string | undefined;
  admission: Admission | undefined;
}

export interface AccessControl {
  /**
   * Checks the right to use a route with these parameters.
   * @throws Failure `forbidden`, `not-found`
   */
  admit(route: Route, request: Pick<RouteRequest, 'params' | 'query'>, identity: Identity): Admission;
  /** Called after each request of an authenticated client. */
  answered(route: Route, request: RouteRequest, identity: Identity, answered: Answered): void;
}
