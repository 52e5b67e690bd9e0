/** Pings to both sides of a session: who neither sends nor answers is gone. */
import { type Deadline, startDeadline } from '../../wire/deadline.ts';

interface Peer {
  ping(): void;
  /** Nothing of it is read now: its silence says nothing. */
  isPaused(): boolean;
}

export class Heartbeat<Side extends string> {
  private readonly silent: Set<Side>;
  private readonly deadline: Deadline;
  private readonly interval: number;
  private readonly peers: Readonly<Record<Side, Peer>>;
  private readonly lost: (side: Side) => void;

  /** Calls `lost` for a side that was silent for between half of `timeout` ms and all of it. */
  constructor(peers: Readonly<Record<Side, Peer>>, timeout: number, lost: (side: Side) => void) {
    this.peers = peers;
    this.lost = lost;
    this.interval = timeout / 2;
    this.silent = new Set();
    this.deadline = startDeadline(this.interval, () => this.beat());
  }

  /** Something came from this side. */
  heard(side: Side): void {
    this.silent.delete(side);
  }

  stop(): void {
    this.deadline.cancel();
  }

  private beat(): void {
    for (const side of this.silent) if (!this.peers[side].isPaused()) return this.lost(side);
    this.deadline.restart(this.interval);
    for (const side of Object.keys(this.peers) as Side[]) {
      if (!this.peers[side].isPaused()) this.silent.add(side);
      else this.silent.delete(side);
      this.peers[side].ping();
    }
  }
}
