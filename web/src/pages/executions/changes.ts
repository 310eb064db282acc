const IDS_AT_ONCE = 100;
// Changes are gathered for so long before their rows are read again, however many events there are.
const GATHER_MS = 250;
const PAUSE_MS_MAX = 10_000;

/**
 * Executions whose rows have to be read again, together and a moment later. No other event may come for a row that could
 * not be read, so it is tried again until it is: after longer and longer pauses.
 */
export class Changes {
  private readonly ids = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | null = null;
  private pauseMs = GATHER_MS;
  private stopped = false;

  constructor(private readonly read: (ids: string[]) => Promise<void>) {}

  add(id: string): void {
    this.ids.add(id);
    this.wait();
  }

  stop(): void {
    this.stopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
  }

  private wait(): void {
    if (this.stopped || this.ids.size === 0) return;
    this.timer ??= setTimeout(() => void this.readAll(), this.pauseMs);
  }

  /** What comes meanwhile waits for the next time: reads of the same row never overtake each other. */
  private async readAll(): Promise<void> {
    const changed = [...this.ids];
    this.ids.clear();
    let failed = false;
    for (let start = 0; start < changed.length && !this.stopped; start += IDS_AT_ONCE) {
      const ids = changed.slice(start, start + IDS_AT_ONCE);
      try {
        await this.read(ids);
      } catch {
        failed = true;
        for (const id of ids) this.ids.add(id);
      }
    }
    this.pauseMs = failed ? Math.min(this.pauseMs * 2, PAUSE_MS_MAX) : GATHER_MS;
    this.timer = null;
    this.wait();
  }
}
