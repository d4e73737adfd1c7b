// The REST surface of batches. BatchService comes from the application module.
import { Module } from '@nestjs/common';
import { BatchController } from './batch.controller.ts';

@Module({ controllers: [BatchController] })
export class BatchModule {}
