// Certificates that this node shows, with the time they have left (contract.md §3.8).

import { Controller, Inject, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ShownCertificate } from '../model/answers/endpoint-answers.ts';
import { list, object } from '../model/json-type.ts';
import { send } from '../resources/http-exchange.ts';
import { Operation } from '../resources/operation.ts';
import type { CertificateEnd } from '../telemetry/surroundings-metrics.ts';
import type { Clock } from '../util/clock.ts';

const dayS = 86_400;

/** Certificates of the active listeners and of the node itself, for the operation. */
export class ShownCertificates {
  readonly #ends: () => readonly CertificateEnd[];
  readonly #clock: Clock;

  constructor(ends: () => readonly CertificateEnd[], clock: Clock) {
    this.#ends = ends;
    this.#clock = clock;
  }

  /** JSON; the one that ends first comes first. */
  get text(): string {
    const nowS = this.#clock.nowMs() / 1_000;
    const list = [...this.#ends()]
      .sort((a, b) => a.endsS - b.endsS)
      .map(
        ({ listener, certificate, endsS }): ShownCertificate => ({
          listener,
          certificate,
          expiresAt: new Date(endsS * 1_000).toISOString(),
          daysLeft: Math.floor((endsS - nowS) / dayS),
        }),
      );
    return JSON.stringify(list);
  }
}

@ApiTags('certificates')
@Controller('api/v1')
export class CertificatesController {
  readonly #shown: ShownCertificates;

  constructor(@Inject(ShownCertificates) shown: ShownCertificates) {
    this.#shown = shown;
  }

  @Operation({
    id: 'listCertificates',
    method: 'GET',
    path: '/certificates',
    summary: 'List certificates and their ends',
    description: 'Certificates of the active listeners and of this node itself, the one that ends first comes first.',
    right: 'read',
    answer: { status: 200, description: 'The certificates.', of: list(object(ShownCertificate)) },
  })
  list(@Res() reply: FastifyReply): void {
    send(reply, { status: 200, headers: {}, body: this.#shown.text });
  }
}
