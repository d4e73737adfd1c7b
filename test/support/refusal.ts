import { SluiceError } from '../../src/errors.ts';

/** The SluiceError that `run` throws; fails when it throws none. */
export function refusal(run: () => unknown): SluiceError {
  try {
    run();
  } catch (error) {
    if (error instanceof SluiceError) return error;
    throw error;
  }
  throw new Error('expected a SluiceError, but nothing was thrown');
}
