// Frames that are nearly right.
import { mutated } from '../../support/mutation.ts';

/** Mostly a byte or two that are others; now and then bytes too many or too few. */
export function damaged(bytes: Buffer, random: () => number): Buffer {
  if (random() < 0.1) return mutated([bytes], random);
  const other = Buffer.from(bytes);
  for (let changes = 1 + Math.floor(random() * 2); changes > 0; changes--) {
    const at = random() < 0.2 ? 4 : 9 + Math.floor(random() * Math.max(1, other.length - 9));
    other[Math.min(at, other.length - 1)] =
      random() < 0.5 ? Math.floor(random() * 256) : (other[at] ?? 0) ^ (1 << Math.floor(random() * 8));
  }
  return other;
}

/** Most of them, mostly in order. */
export function shuffled(frames: readonly Buffer[], random: () => number): Buffer[] {
  const kept = frames.filter(() => random() < 0.9);
  if (random() < 0.5) return kept;
  const [a, b] = [Math.floor(random() * kept.length), Math.floor(random() * kept.length)];
  const swapped = [...kept];
  [swapped[a], swapped[b]] = [kept[b] ?? Buffer.alloc(0), kept[a] ?? Buffer.alloc(0)];
  return swapped;
}
