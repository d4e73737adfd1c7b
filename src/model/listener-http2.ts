// Limits of one HTTP/2 connection of a listener.
import { listenerDefaults } from './defaults.ts';
import { Uint } from './field.ts';

const { maxConcurrentStreams, maxResetsPerSecond } = listenerDefaults.http2Options;

export class ListenerHttp2 {
  @Uint('Most streams that a connection may have open at a time.', {
    min: 1,
    max: 1000,
    default: maxConcurrentStreams,
  })
  readonly maxConcurrentStreams?: number;

  @Uint('Most streams that a client may reset in a second; beyond it the connection ends with ENHANCE_YOUR_CALM.', {
    min: 1,
    default: maxResetsPerSecond,
  })
  readonly maxResetsPerSecond?: number;
}
