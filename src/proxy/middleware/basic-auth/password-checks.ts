// Password checks of one worker: so many at a time, so many waiting, and those for the same credentials are one.
import type { PasswordHash } from '../../../model/password-hash.ts';
import { PoolTurns } from '../pool-turns.ts';
import { isPassword } from './verify-password.ts';

export class PasswordChecks {
  readonly #turns: PoolTurns;
  readonly #waitingMax: number;
  readonly #underWay = new Map<string, Promise<boolean>>();

  constructor(atOnce: number, waitingMax: number) {
    this.#turns = new PoolTurns(atOnce);
    this.#waitingMax = waitingMax;
  }

  /** `key`: of the credentials and their hash. Undefined: too many wait already. */
  check(key: string, password: Buffer, hash: PasswordHash): Promise<boolean> | undefined {
    const same = this.#underWay.get(key);
    if (same !== undefined) return same;
    if (this.#underWay.size >= this.#waitingMax) return undefined;
    const check = this.#check(password, hash).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, check);
    return check;
  }

  async #check(password: Buffer, hash: PasswordHash): Promise<boolean> {
    await new Promise<void>((resolve) => this.#turns.take({ onTurn: resolve }));
    try {
      return await isPassword(password, hash);
    } finally {
      this.#turns.release();
    }
  }
}
