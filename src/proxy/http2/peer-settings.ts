// Settings that the peer announced (RFC 9113 §6.5.2), and the rules that they have to keep.
import { errorCode } from './error-code.ts';
import { defaultWindow, frameBytesMax, setting, windowMax } from './frame.ts';
import { uint32At } from './frame-reader.ts';

export interface SettingsProblem {
  readonly code: number;
  readonly message: string;
}

export class PeerSettings {
  /**
   * Limit of streams that Sluice opens. RFC 9113 sets none before the first SETTINGS; a modest value serves until
   * then.
   */
  maxConcurrentStreams = 100;
  initialWindow = defaultWindow;
  /** Payload size of frames to the peer; never above the size that Sluice sends. */
  frameBytesMax = frameBytesMax;
  connectProtocol = false;

  /** Applies the settings in `bytes[from..to)`; stops at the first problem. */
  read(bytes: Uint8Array, from: number, to: number, fromServer: boolean): SettingsProblem | undefined {
    for (let at = from; at + 6 <= to; at += 6) {
      const id = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
      const problem = this.#take(id, uint32At(bytes, at + 2), fromServer);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #take(id: number, value: number, fromServer: boolean): SettingsProblem | undefined {
    switch (id) {
      case setting.enablePush:
        return value > 1 || (fromServer && value === 1) ? protocolProblem('ENABLE_PUSH') : undefined;
      case setting.maxConcurrentStreams:
        this.maxConcurrentStreams = value;
        return undefined;
      case setting.initialWindowSize:
        if (value > windowMax) return { code: errorCode.flowControl, message: 'INITIAL_WINDOW_SIZE is too large' };
        this.initialWindow = value;
        return undefined;
      case setting.maxFrameSize:
        return value < frameBytesMax || value > 0xff_ffff ? protocolProblem('MAX_FRAME_SIZE') : undefined;
      case setting.enableConnectProtocol:
        if (value > 1 || (this.connectProtocol && value === 0)) return protocolProblem('ENABLE_CONNECT_PROTOCOL');
        this.connectProtocol = value === 1;
        return undefined;
      default:
        return undefined;
    }
  }
}

const protocolProblem = (name: string): SettingsProblem => ({ code: errorCode.protocol, message: `invalid ${name}` });
