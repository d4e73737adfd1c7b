// The OpenAPI schemas of the model's classes, made the way the REST surface makes them.
import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ApiExtraModels, DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { withConstraints } from '../../src/model/constraint.ts';
import { SnapshotSummary } from '../../src/model/snapshot.ts';
import { classOf } from '../../src/model/validation.ts';

@ApiExtraModels(...Object.values(classOf), SnapshotSummary)
@Controller()
class Models {}

@Module({ controllers: [Models] })
class ModelsModule {}

/** `components.schemas` by class name, as plain JSON. */
export const modelSchemas = async (): Promise<unknown> => {
  const app = await NestFactory.create(ModelsModule, new FastifyAdapter(), { logger: ['error'] });
  const document = SwaggerModule.createDocument(app, new DocumentBuilder().build());
  await app.close();
  return JSON.parse(JSON.stringify(withConstraints(document.components?.schemas ?? {})));
};
