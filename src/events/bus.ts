// Tells what happens to whoever listens. Each bus has one typed map from action to payload; each listener has a bounded queue.
import { Message } from './message.ts';
import { Subscription } from './subscription.ts';

/** From action (`node.created` ...) to the payload that travels with it. */
export type EventMap = Record<string, object>;

export class EventBus<Events extends EventMap> {
  private readonly subscriptions = new Set<Subscription>();
  private readonly followers = new Set<(message: Message) => void>();
  private sequence = 0;

  /**
   * Announces an event to everybody, or to the listeners of one project and those of all projects.
   * The payload must not be changed afterwards: it is written out when a listener takes it.
   */
  emit<Action extends keyof Events & string>(action: Action, event: Events[Action], projectId?: string): void {
    this.sequence += 1;
    const message = new Message(action, event, projectId, this.sequence);
    for (const subscription of this.subscriptions) {
      if (subscription.projectId === undefined || projectId === undefined || subscription.projectId === projectId) {
        subscription.push(message);
      }
    }
    for (const follower of this.followers) follower(message);
  }

  /** A queue of what is emitted from now on: of one project (and of what names none), or of everything. */
  subscribe(projectId?: string): Subscription {
    const subscription = new Subscription(projectId, () => this.subscriptions.delete(subscription));
    this.subscriptions.add(subscription);
    return subscription;
  }

  /** Calls `follower` within each `emit`, for parts of the server itself; returns the way to stop that. */
  follow(follower: (message: Message) => void): () => void {
    this.followers.add(follower);
    return () => this.followers.delete(follower);
  }

  /** Listeners of this project's events. */
  listeners(projectId: string): number {
    let count = 0;
    for (const subscription of this.subscriptions) if (subscription.projectId === projectId) count += 1;
    return count;
  }

  /** Ends every subscription, saying why. */
  close(reason: string): void {
    for (const subscription of [...this.subscriptions]) subscription.end(reason);
  }
}
