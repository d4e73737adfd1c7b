// `GET /metrics`: metrics of this node in the text format of Prometheus (raft.md A22).
import { Controller, Inject, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Operation } from '../resources/operation.ts';
import { Metrics } from '../telemetry/metrics.ts';

@ApiTags('health')
@Controller(['', 'api/v1'])
export class MetricsController {
  readonly #metrics: Metrics;

  constructor(@Inject(Metrics) metrics: Metrics) {
    this.#metrics = metrics;
  }

  @Operation({
    id: 'getMetrics',
    method: 'GET',
    path: '/metrics',
    summary: 'Read the metrics',
    description:
      'Of this node: Raft, writes and reads, and how late its event loops run. Proxy metrics are on listeners.',
    right: 'read',
    answer: {
      status: 200,
      description: 'Prometheus text format, 0.0.4.',
      media: { 'text/plain': { schema: { type: 'string' } } },
    },
  })
  async read(@Res() reply: FastifyReply): Promise<void> {
    const { contentType, text } = await this.#metrics.exposition();
    reply.header('Cache-Control', 'no-store').header('Content-Type', contentType).send(text);
  }
}
