import { Module } from '@nestjs/common';
import { ExplainController } from './explain.controller.ts';

@Module({ controllers: [ExplainController] })
export class ExplainModule {}
